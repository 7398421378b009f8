/**
 * How Go writes types of the API, recorded by test/real/record-go-shapes.ts. A type a line, then its fields: by name alone
 * those that are pointers, so that an empty value is not the same as none; with `:kind` those that are always written,
 * empty as s ("") n (0) b (false) o (an object) q (a quantity) x (null).
 */
export const GO_SHAPE_FACTS = `
io.k8s.api.admissionregistration.v1.AuditAnnotation key:s valueExpression:s
io.k8s.api.admissionregistration.v1.ExpressionWarning fieldRef:s warning:s
io.k8s.api.admissionregistration.v1.MatchCondition expression:s name:s
io.k8s.api.admissionregistration.v1.MatchResources matchPolicy
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy metadata:o spec:o
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding metadata:o spec:o
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingList items:x metadata:o
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyList items:x metadata:o
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec failurePolicy
io.k8s.api.admissionregistration.v1.MutatingWebhook failurePolicy matchPolicy reinvocationPolicy timeoutSeconds admissionReviewVersions:x clientConfig:o name:s sideEffects:x
io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration metadata:o
io.k8s.api.admissionregistration.v1.MutatingWebhookConfigurationList items:x metadata:o
io.k8s.api.admissionregistration.v1.Mutation patchType:s
io.k8s.api.admissionregistration.v1.NamedRuleWithOperations scope
io.k8s.api.admissionregistration.v1.ParamRef parameterNotFoundAction
io.k8s.api.admissionregistration.v1.RuleWithOperations scope
io.k8s.api.admissionregistration.v1.ServiceReference path port name:s namespace:s
io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy metadata:o spec:o status:o
io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding metadata:o spec:o
io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingList items:x metadata:o
io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyList items:x metadata:o
io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec failurePolicy
io.k8s.api.admissionregistration.v1.ValidatingWebhook failurePolicy matchPolicy timeoutSeconds admissionReviewVersions:x clientConfig:o name:s sideEffects:x
io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration metadata:o
io.k8s.api.admissionregistration.v1.ValidatingWebhookConfigurationList items:x metadata:o
io.k8s.api.admissionregistration.v1.Validation reason expression:s
io.k8s.api.admissionregistration.v1.Variable expression:s name:s
io.k8s.api.admissionregistration.v1.WebhookClientConfig url
io.k8s.api.admissionregistration.v1alpha1.MatchCondition expression:s name:s
io.k8s.api.admissionregistration.v1alpha1.MatchResources matchPolicy
io.k8s.api.admissionregistration.v1alpha1.MutatingAdmissionPolicy metadata:o spec:o
io.k8s.api.admissionregistration.v1alpha1.MutatingAdmissionPolicyBinding metadata:o spec:o
io.k8s.api.admissionregistration.v1alpha1.MutatingAdmissionPolicyBindingList items:x metadata:o
io.k8s.api.admissionregistration.v1alpha1.MutatingAdmissionPolicyList items:x metadata:o
io.k8s.api.admissionregistration.v1alpha1.MutatingAdmissionPolicySpec failurePolicy
io.k8s.api.admissionregistration.v1alpha1.Mutation patchType:s
io.k8s.api.admissionregistration.v1alpha1.NamedRuleWithOperations scope
io.k8s.api.admissionregistration.v1alpha1.ParamRef parameterNotFoundAction
io.k8s.api.admissionregistration.v1alpha1.Variable expression:s name:s
io.k8s.api.admissionregistration.v1beta1.MatchCondition expression:s name:s
io.k8s.api.admissionregistration.v1beta1.MatchResources matchPolicy
io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicy metadata:o spec:o
io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyBinding metadata:o spec:o
io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyBindingList items:x metadata:o
io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyList items:x metadata:o
io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicySpec failurePolicy
io.k8s.api.admissionregistration.v1beta1.Mutation patchType:s
io.k8s.api.admissionregistration.v1beta1.NamedRuleWithOperations scope
io.k8s.api.admissionregistration.v1beta1.ParamRef parameterNotFoundAction
io.k8s.api.admissionregistration.v1beta1.Variable expression:s name:s
io.k8s.api.apiserverinternal.v1alpha1.StorageVersion metadata:o spec:o status:o
io.k8s.api.apiserverinternal.v1alpha1.StorageVersionCondition lastTransitionTime:x reason:s status:s type:s
io.k8s.api.apiserverinternal.v1alpha1.StorageVersionList items:x metadata:o
io.k8s.api.apiserverinternal.v1alpha1.StorageVersionStatus commonEncodingVersion
io.k8s.api.apps.v1.ControllerRevision data:x metadata:o revision:n
io.k8s.api.apps.v1.ControllerRevisionList items:x metadata:o
io.k8s.api.apps.v1.DaemonSet metadata:o spec:o status:o
io.k8s.api.apps.v1.DaemonSetCondition lastTransitionTime:x status:s type:s
io.k8s.api.apps.v1.DaemonSetList items:x metadata:o
io.k8s.api.apps.v1.DaemonSetSpec revisionHistoryLimit selector:x template:o updateStrategy:o
io.k8s.api.apps.v1.DaemonSetStatus collisionCount currentNumberScheduled:n desiredNumberScheduled:n numberMisscheduled:n numberReady:n
io.k8s.api.apps.v1.Deployment metadata:o spec:o status:o
io.k8s.api.apps.v1.DeploymentCondition lastTransitionTime:x lastUpdateTime:x status:s type:s
io.k8s.api.apps.v1.DeploymentList items:x metadata:o
io.k8s.api.apps.v1.DeploymentSpec progressDeadlineSeconds replicas revisionHistoryLimit selector:x strategy:o template:o
io.k8s.api.apps.v1.DeploymentStatus collisionCount terminatingReplicas
io.k8s.api.apps.v1.ReplicaSet metadata:o spec:o status:o
io.k8s.api.apps.v1.ReplicaSetCondition lastTransitionTime:x status:s type:s
io.k8s.api.apps.v1.ReplicaSetList items:x metadata:o
io.k8s.api.apps.v1.ReplicaSetSpec replicas selector:x template:o
io.k8s.api.apps.v1.ReplicaSetStatus terminatingReplicas replicas:n
io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy partition
io.k8s.api.apps.v1.StatefulSet metadata:o spec:o status:o
io.k8s.api.apps.v1.StatefulSetCondition lastTransitionTime:x status:s type:s
io.k8s.api.apps.v1.StatefulSetList items:x metadata:o
io.k8s.api.apps.v1.StatefulSetOrdinals start:n
io.k8s.api.apps.v1.StatefulSetSpec replicas revisionHistoryLimit selector:x serviceName:s template:o updateStrategy:o
io.k8s.api.apps.v1.StatefulSetStatus collisionCount availableReplicas:n replicas:n
io.k8s.api.authentication.v1.SelfSubjectReview metadata:o status:o
io.k8s.api.authentication.v1.SelfSubjectReviewStatus userInfo:o
io.k8s.api.authentication.v1.TokenRequest metadata:o spec:o status:o
io.k8s.api.authentication.v1.TokenRequestSpec audiences:x boundObjectRef:x expirationSeconds:x
io.k8s.api.authentication.v1.TokenRequestStatus expirationTimestamp:x token:s
io.k8s.api.authentication.v1.TokenReview metadata:o spec:o status:o
io.k8s.api.authentication.v1.TokenReviewStatus user:o
io.k8s.api.authorization.v1.LocalSubjectAccessReview metadata:o spec:o status:o
io.k8s.api.authorization.v1.NonResourceRule verbs:x
io.k8s.api.authorization.v1.ResourceRule verbs:x
io.k8s.api.authorization.v1.SelfSubjectAccessReview metadata:o spec:o status:o
io.k8s.api.authorization.v1.SelfSubjectRulesReview metadata:o spec:o status:o
io.k8s.api.authorization.v1.SubjectAccessReview metadata:o spec:o status:o
io.k8s.api.authorization.v1.SubjectAccessReviewStatus allowed:b
io.k8s.api.authorization.v1.SubjectRulesReviewStatus incomplete:b nonResourceRules:x resourceRules:x
io.k8s.api.autoscaling.v1.CrossVersionObjectReference kind:s name:s
io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler metadata:o spec:o status:o
io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerList items:x metadata:o
io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec minReplicas targetCPUUtilizationPercentage maxReplicas:n scaleTargetRef:o
io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus currentCPUUtilizationPercentage observedGeneration currentReplicas:n desiredReplicas:n
io.k8s.api.autoscaling.v1.Scale metadata:o spec:o status:o
io.k8s.api.autoscaling.v1.ScaleStatus replicas:n
io.k8s.api.autoscaling.v2.ContainerResourceMetricSource container:s name:s target:o
io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus container:s current:o name:s
io.k8s.api.autoscaling.v2.CrossVersionObjectReference kind:s name:s
io.k8s.api.autoscaling.v2.ExternalMetricSource metric:o target:o
io.k8s.api.autoscaling.v2.ExternalMetricStatus current:o metric:o
io.k8s.api.autoscaling.v2.HPAScalingPolicy periodSeconds:n type:s value:n
io.k8s.api.autoscaling.v2.HPAScalingRules selectPolicy stabilizationWindowSeconds
io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler metadata:o spec:o status:o
io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition lastTransitionTime:x status:s type:s
io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerList items:x metadata:o
io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec minReplicas maxReplicas:n scaleTargetRef:o
io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus observedGeneration currentMetrics:x desiredReplicas:n
io.k8s.api.autoscaling.v2.MetricIdentifier name:s
io.k8s.api.autoscaling.v2.MetricSpec type:s
io.k8s.api.autoscaling.v2.MetricStatus type:s
io.k8s.api.autoscaling.v2.MetricTarget averageUtilization type:s
io.k8s.api.autoscaling.v2.MetricValueStatus averageUtilization
io.k8s.api.autoscaling.v2.ObjectMetricSource describedObject:o metric:o target:o
io.k8s.api.autoscaling.v2.ObjectMetricStatus current:o describedObject:o metric:o
io.k8s.api.autoscaling.v2.PodsMetricSource metric:o target:o
io.k8s.api.autoscaling.v2.PodsMetricStatus current:o metric:o
io.k8s.api.autoscaling.v2.ResourceMetricSource name:s target:o
io.k8s.api.autoscaling.v2.ResourceMetricStatus current:o name:s
io.k8s.api.batch.v1.CronJob metadata:o spec:o status:o
io.k8s.api.batch.v1.CronJobList items:x metadata:o
io.k8s.api.batch.v1.CronJobSpec failedJobsHistoryLimit startingDeadlineSeconds successfulJobsHistoryLimit suspend timeZone jobTemplate:o schedule:s
io.k8s.api.batch.v1.Job metadata:o spec:o status:o
io.k8s.api.batch.v1.JobCondition lastProbeTime:x lastTransitionTime:x status:s type:s
io.k8s.api.batch.v1.JobList items:x metadata:o
io.k8s.api.batch.v1.JobSpec activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism podReplacementPolicy suspend ttlSecondsAfterFinished template:o
io.k8s.api.batch.v1.JobStatus failedIndexes ready terminating
io.k8s.api.batch.v1.JobTemplateSpec metadata:o spec:o
io.k8s.api.batch.v1.PodFailurePolicy rules:x
io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement containerName operator:s values:x
io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern status:s type:s
io.k8s.api.batch.v1.PodFailurePolicyRule action:s
io.k8s.api.batch.v1.SuccessPolicy rules:x
io.k8s.api.batch.v1.SuccessPolicyRule succeededCount succeededIndexes
io.k8s.api.certificates.v1.CertificateSigningRequest metadata:o spec:o status:o
io.k8s.api.certificates.v1.CertificateSigningRequestCondition lastTransitionTime:x lastUpdateTime:x status:s type:s
io.k8s.api.certificates.v1.CertificateSigningRequestList items:x metadata:o
io.k8s.api.certificates.v1.CertificateSigningRequestSpec expirationSeconds request:x signerName:s
io.k8s.api.coordination.v1.Lease metadata:o spec:o
io.k8s.api.coordination.v1.LeaseList items:x metadata:o
io.k8s.api.coordination.v1.LeaseSpec holderIdentity leaseDurationSeconds leaseTransitions preferredHolder strategy
io.k8s.api.coordination.v1alpha2.LeaseCandidate metadata:o spec:o
io.k8s.api.coordination.v1alpha2.LeaseCandidateList items:x metadata:o
io.k8s.api.coordination.v1alpha2.LeaseCandidateSpec binaryVersion:s leaseName:s
io.k8s.api.coordination.v1beta1.LeaseCandidate metadata:o spec:o
io.k8s.api.coordination.v1beta1.LeaseCandidateList items:x metadata:o
io.k8s.api.coordination.v1beta1.LeaseCandidateSpec binaryVersion:s leaseName:s
io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource volumeID:s
io.k8s.api.core.v1.AppArmorProfile localhostProfile type:s
io.k8s.api.core.v1.AttachedVolume devicePath:s name:s
io.k8s.api.core.v1.AzureDiskVolumeSource cachingMode fsType kind readOnly diskName:s diskURI:s
io.k8s.api.core.v1.AzureFilePersistentVolumeSource secretName:s secretNamespace:x shareName:s
io.k8s.api.core.v1.AzureFileVolumeSource secretName:s shareName:s
io.k8s.api.core.v1.Binding metadata:o target:o
io.k8s.api.core.v1.CSIPersistentVolumeSource driver:s volumeHandle:s
io.k8s.api.core.v1.CSIVolumeSource fsType readOnly driver:s
io.k8s.api.core.v1.CephFSPersistentVolumeSource monitors:x
io.k8s.api.core.v1.CephFSVolumeSource monitors:x
io.k8s.api.core.v1.CinderPersistentVolumeSource volumeID:s
io.k8s.api.core.v1.CinderVolumeSource volumeID:s
io.k8s.api.core.v1.ClientIPConfig timeoutSeconds
io.k8s.api.core.v1.ClusterTrustBundleProjection name optional signerName path:s
io.k8s.api.core.v1.ComponentCondition status:s type:s
io.k8s.api.core.v1.ComponentStatus metadata:o
io.k8s.api.core.v1.ComponentStatusList items:x metadata:o
io.k8s.api.core.v1.ConfigMap immutable metadata:o
io.k8s.api.core.v1.ConfigMapEnvSource optional
io.k8s.api.core.v1.ConfigMapKeySelector optional key:s
io.k8s.api.core.v1.ConfigMapList items:x metadata:o
io.k8s.api.core.v1.ConfigMapNodeConfigSource kubeletConfigKey:s name:s namespace:s
io.k8s.api.core.v1.ConfigMapProjection optional
io.k8s.api.core.v1.ConfigMapVolumeSource defaultMode optional
io.k8s.api.core.v1.Container restartPolicy name:s resources:o
io.k8s.api.core.v1.ContainerExtendedResourceRequest containerName:s requestName:s resourceName:s
io.k8s.api.core.v1.ContainerImage names:x
io.k8s.api.core.v1.ContainerPort containerPort:n
io.k8s.api.core.v1.ContainerResizePolicy resourceName:s restartPolicy:s
io.k8s.api.core.v1.ContainerStateRunning startedAt:x
io.k8s.api.core.v1.ContainerStateTerminated exitCode:n finishedAt:x startedAt:x
io.k8s.api.core.v1.ContainerStatus started stopSignal image:s imageID:s lastState:o name:s ready:b restartCount:n state:o
io.k8s.api.core.v1.DaemonEndpoint Port:n
io.k8s.api.core.v1.DownwardAPIVolumeFile mode path:s
io.k8s.api.core.v1.DownwardAPIVolumeSource defaultMode
io.k8s.api.core.v1.EndpointAddress nodeName ip:s
io.k8s.api.core.v1.EndpointPort appProtocol port:n
io.k8s.api.core.v1.Endpoints metadata:o
io.k8s.api.core.v1.EndpointsList items:x metadata:o
io.k8s.api.core.v1.EnvVar name:s
io.k8s.api.core.v1.EphemeralContainer restartPolicy name:s resources:o
io.k8s.api.core.v1.Event eventTime:x firstTimestamp:x involvedObject:o lastTimestamp:x metadata:o reportingComponent:s reportingInstance:s source:o
io.k8s.api.core.v1.EventList items:x metadata:o
io.k8s.api.core.v1.EventSeries lastObservedTime:x
io.k8s.api.core.v1.FCVolumeSource lun
io.k8s.api.core.v1.FileKeySelector optional key:s path:s volumeName:s
io.k8s.api.core.v1.FlexPersistentVolumeSource driver:s
io.k8s.api.core.v1.FlexVolumeSource driver:s
io.k8s.api.core.v1.GCEPersistentDiskVolumeSource pdName:s
io.k8s.api.core.v1.GRPCAction port:n service:x
io.k8s.api.core.v1.GitRepoVolumeSource repository:s
io.k8s.api.core.v1.GlusterfsPersistentVolumeSource endpointsNamespace endpoints:s path:s
io.k8s.api.core.v1.GlusterfsVolumeSource endpoints:s path:s
io.k8s.api.core.v1.HTTPGetAction port:n
io.k8s.api.core.v1.HTTPHeader name:s value:s
io.k8s.api.core.v1.HostAlias ip:s
io.k8s.api.core.v1.HostIP ip:s
io.k8s.api.core.v1.HostPathVolumeSource type path:s
io.k8s.api.core.v1.ISCSIPersistentVolumeSource initiatorName iqn:s lun:n targetPortal:s
io.k8s.api.core.v1.ISCSIVolumeSource initiatorName iqn:s lun:n targetPortal:s
io.k8s.api.core.v1.KeyToPath mode key:s path:s
io.k8s.api.core.v1.Lifecycle stopSignal
io.k8s.api.core.v1.LimitRange metadata:o spec:o
io.k8s.api.core.v1.LimitRangeItem type:s
io.k8s.api.core.v1.LimitRangeList items:x metadata:o
io.k8s.api.core.v1.LimitRangeSpec limits:x
io.k8s.api.core.v1.LinuxContainerUser gid:n uid:n
io.k8s.api.core.v1.LoadBalancerIngress ipMode
io.k8s.api.core.v1.LocalVolumeSource fsType path:s
io.k8s.api.core.v1.ModifyVolumeStatus status:s
io.k8s.api.core.v1.NFSVolumeSource path:s server:s
io.k8s.api.core.v1.Namespace metadata:o spec:o status:o
io.k8s.api.core.v1.NamespaceCondition lastTransitionTime:x status:s type:s
io.k8s.api.core.v1.NamespaceList items:x metadata:o
io.k8s.api.core.v1.Node metadata:o spec:o status:o
io.k8s.api.core.v1.NodeAddress address:s type:s
io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus resourceClaimName:s resources:x
io.k8s.api.core.v1.NodeCondition lastHeartbeatTime:x lastTransitionTime:x status:s type:s
io.k8s.api.core.v1.NodeDaemonEndpoints kubeletEndpoint:o
io.k8s.api.core.v1.NodeFeatures supplementalGroupsPolicy
io.k8s.api.core.v1.NodeList items:x metadata:o
io.k8s.api.core.v1.NodeRuntimeHandler name:s
io.k8s.api.core.v1.NodeRuntimeHandlerFeatures recursiveReadOnlyMounts userNamespaces
io.k8s.api.core.v1.NodeSelector nodeSelectorTerms:x
io.k8s.api.core.v1.NodeSelectorRequirement key:s operator:s
io.k8s.api.core.v1.NodeStatus daemonEndpoints:o nodeInfo:o
io.k8s.api.core.v1.NodeSwapStatus capacity
io.k8s.api.core.v1.NodeSystemInfo architecture:s bootID:s containerRuntimeVersion:s kernelVersion:s kubeProxyVersion:s kubeletVersion:s machineID:s operatingSystem:s osImage:s systemUUID:s
io.k8s.api.core.v1.ObjectFieldSelector fieldPath:s
io.k8s.api.core.v1.PersistentVolume metadata:o spec:o status:o
io.k8s.api.core.v1.PersistentVolumeClaim metadata:o spec:o status:o
io.k8s.api.core.v1.PersistentVolumeClaimCondition lastProbeTime:x lastTransitionTime:x status:s type:s
io.k8s.api.core.v1.PersistentVolumeClaimList items:x metadata:o
io.k8s.api.core.v1.PersistentVolumeClaimSpec storageClassName volumeAttributesClassName volumeMode resources:o
io.k8s.api.core.v1.PersistentVolumeClaimStatus currentVolumeAttributesClassName
io.k8s.api.core.v1.PersistentVolumeClaimTemplate metadata:o spec:o
io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource claimName:s
io.k8s.api.core.v1.PersistentVolumeList items:x metadata:o
io.k8s.api.core.v1.PersistentVolumeSpec volumeAttributesClassName volumeMode
io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource pdID:s
io.k8s.api.core.v1.Pod metadata:o spec:o status:o
io.k8s.api.core.v1.PodAffinityTerm topologyKey:s
io.k8s.api.core.v1.PodCertificateProjection maxExpirationSeconds
io.k8s.api.core.v1.PodCondition lastProbeTime:x lastTransitionTime:x status:s type:s
io.k8s.api.core.v1.PodDNSConfigOption value
io.k8s.api.core.v1.PodExtendedResourceClaimStatus requestMappings:x resourceClaimName:s
io.k8s.api.core.v1.PodIP ip:s
io.k8s.api.core.v1.PodList items:x metadata:o
io.k8s.api.core.v1.PodOS name:s
io.k8s.api.core.v1.PodReadinessGate conditionType:s
io.k8s.api.core.v1.PodResourceClaim resourceClaimName resourceClaimTemplateName name:s
io.k8s.api.core.v1.PodResourceClaimStatus resourceClaimName name:s
io.k8s.api.core.v1.PodSchedulingGate name:s
io.k8s.api.core.v1.PodSchedulingGroup podGroupName
io.k8s.api.core.v1.PodSecurityContext fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy supplementalGroupsPolicy
io.k8s.api.core.v1.PodSpec activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers hostnameOverride preemptionPolicy priority runtimeClassName setHostnameAsFQDN shareProcessNamespace terminationGracePeriodSeconds containers:x
io.k8s.api.core.v1.PodTemplate metadata:o template:o
io.k8s.api.core.v1.PodTemplateList items:x metadata:o
io.k8s.api.core.v1.PodTemplateSpec metadata:o spec:o
io.k8s.api.core.v1.PortStatus error port:n protocol:s
io.k8s.api.core.v1.PortworxVolumeSource volumeID:s
io.k8s.api.core.v1.PreferredSchedulingTerm preference:o weight:n
io.k8s.api.core.v1.Probe terminationGracePeriodSeconds
io.k8s.api.core.v1.ProjectedVolumeSource defaultMode sources:x
io.k8s.api.core.v1.QuobyteVolumeSource registry:s volume:s
io.k8s.api.core.v1.RBDPersistentVolumeSource image:s monitors:x
io.k8s.api.core.v1.RBDVolumeSource image:s monitors:x
io.k8s.api.core.v1.ReplicationController metadata:o spec:o status:o
io.k8s.api.core.v1.ReplicationControllerCondition lastTransitionTime:x status:s type:s
io.k8s.api.core.v1.ReplicationControllerList items:x metadata:o
io.k8s.api.core.v1.ReplicationControllerSpec replicas
io.k8s.api.core.v1.ReplicationControllerStatus replicas:n
io.k8s.api.core.v1.ResourceClaim name:s
io.k8s.api.core.v1.ResourceFieldSelector divisor:q resource:s
io.k8s.api.core.v1.ResourceHealth message resourceID:s
io.k8s.api.core.v1.ResourceQuota metadata:o spec:o status:o
io.k8s.api.core.v1.ResourceQuotaList items:x metadata:o
io.k8s.api.core.v1.ResourceStatus name:s
io.k8s.api.core.v1.ScaleIOPersistentVolumeSource gateway:s secretRef:x system:s
io.k8s.api.core.v1.ScaleIOVolumeSource gateway:s secretRef:x system:s
io.k8s.api.core.v1.ScopedResourceSelectorRequirement operator:s scopeName:s
io.k8s.api.core.v1.SeccompProfile localhostProfile type:s
io.k8s.api.core.v1.Secret immutable metadata:o
io.k8s.api.core.v1.SecretEnvSource optional
io.k8s.api.core.v1.SecretKeySelector optional key:s
io.k8s.api.core.v1.SecretList items:x metadata:o
io.k8s.api.core.v1.SecretProjection optional
io.k8s.api.core.v1.SecretVolumeSource defaultMode optional
io.k8s.api.core.v1.SecurityContext allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser
io.k8s.api.core.v1.Service metadata:o spec:o status:o
io.k8s.api.core.v1.ServiceAccount automountServiceAccountToken metadata:o
io.k8s.api.core.v1.ServiceAccountList items:x metadata:o
io.k8s.api.core.v1.ServiceAccountTokenProjection expirationSeconds path:s
io.k8s.api.core.v1.ServiceList items:x metadata:o
io.k8s.api.core.v1.ServicePort appProtocol port:n targetPort:n
io.k8s.api.core.v1.ServiceSpec allocateLoadBalancerNodePorts internalTrafficPolicy ipFamilyPolicy loadBalancerClass trafficDistribution
io.k8s.api.core.v1.ServiceStatus loadBalancer:o
io.k8s.api.core.v1.SleepAction seconds:n
io.k8s.api.core.v1.Sysctl name:s value:s
io.k8s.api.core.v1.TCPSocketAction port:n
io.k8s.api.core.v1.Taint effect:s key:s
io.k8s.api.core.v1.Toleration tolerationSeconds
io.k8s.api.core.v1.TopologySelectorLabelRequirement key:s values:x
io.k8s.api.core.v1.TopologySpreadConstraint minDomains nodeAffinityPolicy nodeTaintsPolicy maxSkew:n topologyKey:s whenUnsatisfiable:s
io.k8s.api.core.v1.TypedLocalObjectReference apiGroup:x kind:s name:s
io.k8s.api.core.v1.TypedObjectReference namespace apiGroup:x kind:s name:s
io.k8s.api.core.v1.Volume name:s
io.k8s.api.core.v1.VolumeDevice devicePath:s name:s
io.k8s.api.core.v1.VolumeMount mountPropagation recursiveReadOnly mountPath:s name:s
io.k8s.api.core.v1.VolumeMountStatus recursiveReadOnly mountPath:s name:s
io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource volumePath:s
io.k8s.api.core.v1.WeightedPodAffinityTerm podAffinityTerm:o weight:n
io.k8s.api.core.v1.WindowsSecurityContextOptions gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName
io.k8s.api.discovery.v1.Endpoint hostname nodeName zone addresses:x conditions:o
io.k8s.api.discovery.v1.EndpointConditions ready serving terminating
io.k8s.api.discovery.v1.EndpointPort appProtocol name port protocol
io.k8s.api.discovery.v1.EndpointSlice addressType:s endpoints:x metadata:o ports:x
io.k8s.api.discovery.v1.EndpointSliceList items:x metadata:o
io.k8s.api.discovery.v1.ForNode name:s
io.k8s.api.discovery.v1.ForZone name:s
io.k8s.api.events.v1.Event deprecatedFirstTimestamp:x deprecatedLastTimestamp:x deprecatedSource:o eventTime:x metadata:o regarding:o
io.k8s.api.events.v1.EventList items:x metadata:o
io.k8s.api.events.v1.EventSeries count:n lastObservedTime:x
io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration lendablePercent nominalConcurrencyShares
io.k8s.api.flowcontrol.v1.FlowDistinguisherMethod type:s
io.k8s.api.flowcontrol.v1.FlowSchema metadata:o spec:o status:o
io.k8s.api.flowcontrol.v1.FlowSchemaCondition lastTransitionTime:x
io.k8s.api.flowcontrol.v1.FlowSchemaList items:x metadata:o
io.k8s.api.flowcontrol.v1.FlowSchemaSpec matchingPrecedence:n priorityLevelConfiguration:o
io.k8s.api.flowcontrol.v1.GroupSubject name:s
io.k8s.api.flowcontrol.v1.LimitResponse type:s
io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration borrowingLimitPercent lendablePercent limitResponse:o nominalConcurrencyShares:x
io.k8s.api.flowcontrol.v1.NonResourcePolicyRule nonResourceURLs:x verbs:x
io.k8s.api.flowcontrol.v1.PolicyRulesWithSubjects subjects:x
io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration metadata:o spec:o status:o
io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationCondition lastTransitionTime:x
io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationList items:x metadata:o
io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference name:s
io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec type:s
io.k8s.api.flowcontrol.v1.QueuingConfiguration handSize:n queueLengthLimit:n queues:n
io.k8s.api.flowcontrol.v1.ResourcePolicyRule apiGroups:x namespaces:x resources:x verbs:x
io.k8s.api.flowcontrol.v1.ServiceAccountSubject name:s namespace:s
io.k8s.api.flowcontrol.v1.Subject kind:s
io.k8s.api.flowcontrol.v1.UserSubject name:s
io.k8s.api.networking.v1.HTTPIngressPath backend:o pathType:x
io.k8s.api.networking.v1.HTTPIngressRuleValue paths:x
io.k8s.api.networking.v1.IPAddress metadata:o spec:o
io.k8s.api.networking.v1.IPAddressList items:x metadata:o
io.k8s.api.networking.v1.IPBlock cidr:s
io.k8s.api.networking.v1.Ingress metadata:o spec:o status:o
io.k8s.api.networking.v1.IngressClass metadata:o spec:o
io.k8s.api.networking.v1.IngressClassList items:x metadata:o
io.k8s.api.networking.v1.IngressClassParametersReference apiGroup namespace kind:s name:s scope:x
io.k8s.api.networking.v1.IngressList items:x metadata:o
io.k8s.api.networking.v1.IngressPortStatus error port:n protocol:s
io.k8s.api.networking.v1.IngressServiceBackend name:s port:o
io.k8s.api.networking.v1.IngressSpec ingressClassName
io.k8s.api.networking.v1.IngressStatus loadBalancer:o
io.k8s.api.networking.v1.NetworkPolicy metadata:o spec:o
io.k8s.api.networking.v1.NetworkPolicyList items:x metadata:o
io.k8s.api.networking.v1.NetworkPolicyPort endPort protocol
io.k8s.api.networking.v1.NetworkPolicySpec podSelector:o
io.k8s.api.networking.v1.ServiceCIDR metadata:o spec:o status:o
io.k8s.api.networking.v1.ServiceCIDRList items:x metadata:o
io.k8s.api.networking.v1beta1.IPAddress metadata:o spec:o
io.k8s.api.networking.v1beta1.IPAddressList items:x metadata:o
io.k8s.api.networking.v1beta1.ServiceCIDR metadata:o spec:o status:o
io.k8s.api.networking.v1beta1.ServiceCIDRList items:x metadata:o
io.k8s.api.node.v1.RuntimeClass handler:s metadata:o
io.k8s.api.node.v1.RuntimeClassList items:x metadata:o
io.k8s.api.policy.v1.Eviction metadata:o
io.k8s.api.policy.v1.PodDisruptionBudget metadata:o spec:o status:o
io.k8s.api.policy.v1.PodDisruptionBudgetList items:x metadata:o
io.k8s.api.policy.v1.PodDisruptionBudgetSpec unhealthyPodEvictionPolicy
io.k8s.api.policy.v1.PodDisruptionBudgetStatus currentHealthy:n desiredHealthy:n disruptionsAllowed:n expectedPods:n
io.k8s.api.rbac.v1.ClusterRole metadata:o rules:x
io.k8s.api.rbac.v1.ClusterRoleBinding metadata:o roleRef:o
io.k8s.api.rbac.v1.ClusterRoleBindingList items:x metadata:o
io.k8s.api.rbac.v1.ClusterRoleList items:x metadata:o
io.k8s.api.rbac.v1.PolicyRule verbs:x
io.k8s.api.rbac.v1.Role metadata:o rules:x
io.k8s.api.rbac.v1.RoleBinding metadata:o roleRef:o
io.k8s.api.rbac.v1.RoleBindingList items:x metadata:o
io.k8s.api.rbac.v1.RoleList items:x metadata:o
io.k8s.api.rbac.v1.RoleRef apiGroup:s kind:s name:s
io.k8s.api.rbac.v1.Subject kind:s name:s
io.k8s.api.resource.v1.AllocatedDeviceStatus shareID conditions:x device:s driver:s pool:s
io.k8s.api.resource.v1.AllocationResult devices:o
io.k8s.api.resource.v1.CELDeviceSelector expression:s
io.k8s.api.resource.v1.CapacityRequestPolicy default:x
io.k8s.api.resource.v1.Counter value:q
io.k8s.api.resource.v1.CounterSet name:s
io.k8s.api.resource.v1.Device allNodes allowMultipleAllocations bindsToNode nodeName name:s
io.k8s.api.resource.v1.DeviceAllocationConfiguration source:s
io.k8s.api.resource.v1.DeviceAttribute bool int string version
io.k8s.api.resource.v1.DeviceCapacity value:q
io.k8s.api.resource.v1.DeviceClaim requests:x
io.k8s.api.resource.v1.DeviceClass metadata:o spec:o
io.k8s.api.resource.v1.DeviceClassList items:x metadata:o
io.k8s.api.resource.v1.DeviceClassSpec extendedResourceName
io.k8s.api.resource.v1.DeviceConstraint distinctAttribute matchAttribute
io.k8s.api.resource.v1.DeviceCounterConsumption counterSet:s
io.k8s.api.resource.v1.DeviceRequest name:s
io.k8s.api.resource.v1.DeviceRequestAllocationResult adminAccess shareID device:s driver:s pool:s request:s
io.k8s.api.resource.v1.DeviceSubRequest deviceClassName:s name:s
io.k8s.api.resource.v1.DeviceTaint effect:s key:s
io.k8s.api.resource.v1.DeviceToleration tolerationSeconds
io.k8s.api.resource.v1.ExactDeviceRequest adminAccess deviceClassName:s
io.k8s.api.resource.v1.NodeAllocatableResourceMapping capacityKey
io.k8s.api.resource.v1.OpaqueDeviceConfiguration driver:s parameters:x
io.k8s.api.resource.v1.ResourceClaim metadata:o spec:o status:o
io.k8s.api.resource.v1.ResourceClaimConsumerReference name:s resource:s uid:s
io.k8s.api.resource.v1.ResourceClaimList items:x metadata:o
io.k8s.api.resource.v1.ResourceClaimSpec devices:o
io.k8s.api.resource.v1.ResourceClaimTemplate metadata:o spec:o
io.k8s.api.resource.v1.ResourceClaimTemplateList items:x metadata:o
io.k8s.api.resource.v1.ResourceClaimTemplateSpec metadata:o spec:o
io.k8s.api.resource.v1.ResourcePool generation:n name:s resourceSliceCount:n
io.k8s.api.resource.v1.ResourceSlice metadata:o spec:o
io.k8s.api.resource.v1.ResourceSliceList items:x metadata:o
io.k8s.api.resource.v1.ResourceSliceSpec allNodes nodeName perDeviceNodeSelection driver:s pool:o
io.k8s.api.resource.v1alpha3.DeviceTaint effect:s key:s
io.k8s.api.resource.v1alpha3.DeviceTaintRule metadata:o spec:o status:o
io.k8s.api.resource.v1alpha3.DeviceTaintRuleList items:x metadata:o
io.k8s.api.resource.v1alpha3.DeviceTaintRuleSpec taint:o
io.k8s.api.resource.v1alpha3.DeviceTaintSelector device driver pool
io.k8s.api.resource.v1alpha3.PoolStatus allocatedDevices availableDevices nodeName resourceSliceCount totalDevices unavailableDevices validationError generation:n
io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequest metadata:o spec:o
io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestList items:x metadata:o
io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestSpec limit poolName driver:s
io.k8s.api.resource.v1alpha3.ResourcePoolStatusRequestStatus poolCount
io.k8s.api.resource.v1beta1.AllocatedDeviceStatus shareID conditions:x device:s driver:s pool:s
io.k8s.api.resource.v1beta1.AllocationResult devices:o
io.k8s.api.resource.v1beta1.BasicDevice allNodes allowMultipleAllocations bindsToNode nodeName
io.k8s.api.resource.v1beta1.CELDeviceSelector expression:s
io.k8s.api.resource.v1beta1.CapacityRequestPolicy default:x
io.k8s.api.resource.v1beta1.Counter value:q
io.k8s.api.resource.v1beta1.CounterSet name:s
io.k8s.api.resource.v1beta1.Device name:s
io.k8s.api.resource.v1beta1.DeviceAllocationConfiguration source:s
io.k8s.api.resource.v1beta1.DeviceAttribute bool int string version
io.k8s.api.resource.v1beta1.DeviceCapacity value:q
io.k8s.api.resource.v1beta1.DeviceClaim requests:x
io.k8s.api.resource.v1beta1.DeviceClass metadata:o spec:o
io.k8s.api.resource.v1beta1.DeviceClassList items:x metadata:o
io.k8s.api.resource.v1beta1.DeviceClassSpec extendedResourceName
io.k8s.api.resource.v1beta1.DeviceConstraint distinctAttribute matchAttribute
io.k8s.api.resource.v1beta1.DeviceCounterConsumption counterSet:s
io.k8s.api.resource.v1beta1.DeviceRequest adminAccess deviceClassName:s name:s
io.k8s.api.resource.v1beta1.DeviceRequestAllocationResult adminAccess shareID device:s driver:s pool:s request:s
io.k8s.api.resource.v1beta1.DeviceSubRequest deviceClassName:s name:s
io.k8s.api.resource.v1beta1.DeviceTaint effect:s key:s
io.k8s.api.resource.v1beta1.DeviceToleration tolerationSeconds
io.k8s.api.resource.v1beta1.NodeAllocatableResourceMapping capacityKey
io.k8s.api.resource.v1beta1.OpaqueDeviceConfiguration driver:s parameters:x
io.k8s.api.resource.v1beta1.ResourceClaim metadata:o spec:o status:o
io.k8s.api.resource.v1beta1.ResourceClaimConsumerReference name:s resource:s uid:s
io.k8s.api.resource.v1beta1.ResourceClaimList items:x metadata:o
io.k8s.api.resource.v1beta1.ResourceClaimSpec devices:o
io.k8s.api.resource.v1beta1.ResourceClaimTemplate metadata:o spec:o
io.k8s.api.resource.v1beta1.ResourceClaimTemplateList items:x metadata:o
io.k8s.api.resource.v1beta1.ResourceClaimTemplateSpec metadata:o spec:o
io.k8s.api.resource.v1beta1.ResourcePool generation:n name:s resourceSliceCount:n
io.k8s.api.resource.v1beta1.ResourceSlice metadata:o spec:o
io.k8s.api.resource.v1beta1.ResourceSliceList items:x metadata:o
io.k8s.api.resource.v1beta1.ResourceSliceSpec perDeviceNodeSelection driver:s pool:o
io.k8s.api.resource.v1beta2.AllocatedDeviceStatus shareID conditions:x device:s driver:s pool:s
io.k8s.api.resource.v1beta2.AllocationResult devices:o
io.k8s.api.resource.v1beta2.CELDeviceSelector expression:s
io.k8s.api.resource.v1beta2.CapacityRequestPolicy default:x
io.k8s.api.resource.v1beta2.Counter value:q
io.k8s.api.resource.v1beta2.CounterSet name:s
io.k8s.api.resource.v1beta2.Device allNodes allowMultipleAllocations bindsToNode nodeName name:s
io.k8s.api.resource.v1beta2.DeviceAllocationConfiguration source:s
io.k8s.api.resource.v1beta2.DeviceAttribute bool int string version
io.k8s.api.resource.v1beta2.DeviceCapacity value:q
io.k8s.api.resource.v1beta2.DeviceClaim requests:x
io.k8s.api.resource.v1beta2.DeviceClass metadata:o spec:o
io.k8s.api.resource.v1beta2.DeviceClassList items:x metadata:o
io.k8s.api.resource.v1beta2.DeviceClassSpec extendedResourceName
io.k8s.api.resource.v1beta2.DeviceConstraint distinctAttribute matchAttribute
io.k8s.api.resource.v1beta2.DeviceCounterConsumption counterSet:s
io.k8s.api.resource.v1beta2.DeviceRequest name:s
io.k8s.api.resource.v1beta2.DeviceRequestAllocationResult adminAccess shareID device:s driver:s pool:s request:s
io.k8s.api.resource.v1beta2.DeviceSubRequest deviceClassName:s name:s
io.k8s.api.resource.v1beta2.DeviceTaint effect:s key:s
io.k8s.api.resource.v1beta2.DeviceTaintRule metadata:o spec:o status:o
io.k8s.api.resource.v1beta2.DeviceTaintRuleList items:x metadata:o
io.k8s.api.resource.v1beta2.DeviceTaintRuleSpec taint:o
io.k8s.api.resource.v1beta2.DeviceTaintSelector device driver pool
io.k8s.api.resource.v1beta2.DeviceToleration tolerationSeconds
io.k8s.api.resource.v1beta2.ExactDeviceRequest adminAccess deviceClassName:s
io.k8s.api.resource.v1beta2.NodeAllocatableResourceMapping capacityKey
io.k8s.api.resource.v1beta2.OpaqueDeviceConfiguration driver:s parameters:x
io.k8s.api.resource.v1beta2.ResourceClaim metadata:o spec:o status:o
io.k8s.api.resource.v1beta2.ResourceClaimConsumerReference name:s resource:s uid:s
io.k8s.api.resource.v1beta2.ResourceClaimList items:x metadata:o
io.k8s.api.resource.v1beta2.ResourceClaimSpec devices:o
io.k8s.api.resource.v1beta2.ResourceClaimTemplate metadata:o spec:o
io.k8s.api.resource.v1beta2.ResourceClaimTemplateList items:x metadata:o
io.k8s.api.resource.v1beta2.ResourceClaimTemplateSpec metadata:o spec:o
io.k8s.api.resource.v1beta2.ResourcePool generation:n name:s resourceSliceCount:n
io.k8s.api.resource.v1beta2.ResourceSlice metadata:o spec:o
io.k8s.api.resource.v1beta2.ResourceSliceList items:x metadata:o
io.k8s.api.resource.v1beta2.ResourceSliceSpec allNodes nodeName perDeviceNodeSelection driver:s pool:o
io.k8s.api.scheduling.v1.PriorityClass preemptionPolicy metadata:o value:n
io.k8s.api.scheduling.v1.PriorityClassList items:x metadata:o
io.k8s.api.scheduling.v1alpha2.GangSchedulingPolicy minCount:n
io.k8s.api.scheduling.v1alpha2.PodGroup metadata:o spec:o status:o
io.k8s.api.scheduling.v1alpha2.PodGroupList items:x metadata:o
io.k8s.api.scheduling.v1alpha2.PodGroupResourceClaim resourceClaimName resourceClaimTemplateName name:s
io.k8s.api.scheduling.v1alpha2.PodGroupResourceClaimStatus resourceClaimName name:s
io.k8s.api.scheduling.v1alpha2.PodGroupSpec disruptionMode priority podGroupTemplateRef:x schedulingPolicy:o
io.k8s.api.scheduling.v1alpha2.PodGroupTemplate disruptionMode priority name:s schedulingConstraints:x schedulingPolicy:o
io.k8s.api.scheduling.v1alpha2.PodGroupTemplateReference workload:x
io.k8s.api.scheduling.v1alpha2.TopologyConstraint key:s
io.k8s.api.scheduling.v1alpha2.TypedLocalObjectReference kind:s name:s
io.k8s.api.scheduling.v1alpha2.Workload metadata:o spec:o
io.k8s.api.scheduling.v1alpha2.WorkloadList items:x metadata:o
io.k8s.api.scheduling.v1alpha2.WorkloadPodGroupTemplateReference podGroupTemplateName:s workloadName:s
io.k8s.api.scheduling.v1alpha2.WorkloadSpec podGroupTemplates:x
io.k8s.api.storage.v1.CSIDriver metadata:o spec:o
io.k8s.api.storage.v1.CSIDriverList items:x metadata:o
io.k8s.api.storage.v1.CSIDriverSpec attachRequired fsGroupPolicy nodeAllocatableUpdatePeriodSeconds podInfoOnMount preventPodSchedulingIfMissing requiresRepublish seLinuxMount serviceAccountTokenInSecrets storageCapacity
io.k8s.api.storage.v1.CSINode metadata:o spec:o
io.k8s.api.storage.v1.CSINodeDriver name:s nodeID:s topologyKeys:x
io.k8s.api.storage.v1.CSINodeList items:x metadata:o
io.k8s.api.storage.v1.CSINodeSpec drivers:x
io.k8s.api.storage.v1.CSIStorageCapacity metadata:o storageClassName:s
io.k8s.api.storage.v1.CSIStorageCapacityList items:x metadata:o
io.k8s.api.storage.v1.StorageClass allowVolumeExpansion reclaimPolicy volumeBindingMode metadata:o provisioner:s
io.k8s.api.storage.v1.StorageClassList items:x metadata:o
io.k8s.api.storage.v1.TokenRequest expirationSeconds audience:s
io.k8s.api.storage.v1.VolumeAttachment metadata:o spec:o status:o
io.k8s.api.storage.v1.VolumeAttachmentList items:x metadata:o
io.k8s.api.storage.v1.VolumeAttachmentSource persistentVolumeName
io.k8s.api.storage.v1.VolumeAttachmentSpec attacher:s nodeName:s source:o
io.k8s.api.storage.v1.VolumeAttachmentStatus attached:b
io.k8s.api.storage.v1.VolumeAttributesClass driverName:s metadata:o
io.k8s.api.storage.v1.VolumeAttributesClassList items:x metadata:o
io.k8s.api.storage.v1.VolumeError errorCode time:x
io.k8s.api.storage.v1.VolumeNodeResources count
io.k8s.api.storage.v1beta1.VolumeAttributesClass driverName:s metadata:o
io.k8s.api.storage.v1beta1.VolumeAttributesClassList items:x metadata:o
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition jsonPath:s name:s type:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion strategy:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition metadata:o spec:o status:o
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition lastTransitionTime:x status:s type:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionList items:x metadata:o
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames kind:s plural:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec group:s names:o scope:s versions:x
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus acceptedNames:o conditions:x storedVersions:x
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion deprecationWarning name:s served:b storage:b
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale labelSelectorPath specReplicasPath:s statusReplicasPath:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps $ref maxItems maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-preserve-unknown-fields
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField jsonPath:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference path port name:s namespace:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule optionalOldSelf reason rule:s
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig url
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion conversionReviewVersions:x
io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup name:s preferredVersion:o versions:x
io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList groups:x
io.k8s.apimachinery.pkg.apis.meta.v1.APIResource kind:s name:s namespaced:b singularName:s verbs:x
io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList groupVersion:s resources:x
io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions serverAddressByClientCIDRs:x versions:x
io.k8s.apimachinery.pkg.apis.meta.v1.Condition lastTransitionTime:x message:s reason:s status:s type:s
io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions gracePeriodSeconds ignoreStoreReadErrorWithClusterBreakingPotential orphanDependents propagationPolicy
io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement key:s operator:s
io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery groupVersion:s version:s
io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement key:s operator:s
io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta remainingItemCount
io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta deletionGracePeriodSeconds
io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference blockOwnerDeletion controller apiVersion:s kind:s name:s uid:s
io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions resourceVersion uid
io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR clientCIDR:s serverAddress:s
io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo selector:s
io.k8s.apimachinery.pkg.apis.meta.v1.Status metadata:o
io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent object:x type:s
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService metadata:o spec:o status:o
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceCondition lastTransitionTime:x status:s type:s
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceList items:x metadata:o
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec groupPriorityMinimum:n versionPriority:n
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference port
`;
