/**
 * Fields of kube-apiserver's own types in their order, recorded by test/real/record-go-shapes.ts. A type a line, then
 * `Field:kind`: s (text) n (number) b (boolean) q (quantity) x (null when not set), p, l and o with the name of a type
 * (a pointer to one, a list of them, one itself); `...` what is written in between as it is.
 */
export const INTERNAL_FORMS = `
AWSElasticBlockStoreVolumeSource VolumeID:s FSType:s Partition:n ReadOnly:b
Affinity NodeAffinity:pNodeAffinity PodAffinity:pPodAffinity PodAntiAffinity:pPodAntiAffinity
AppArmorProfile Type:s LocalhostProfile:x
AzureDiskVolumeSource DiskName:s DataDiskURI:s CachingMode:x FSType:x ReadOnly:x Kind:x
AzureFilePersistentVolumeSource SecretName:s ShareName:s ReadOnly:b SecretNamespace:x
AzureFileVolumeSource SecretName:s ShareName:s ReadOnly:b
CSIPersistentVolumeSource Driver:s VolumeHandle:s ReadOnly:b FSType:s VolumeAttributes:x ControllerPublishSecretRef:pSecretReference NodeStageSecretRef:pSecretReference NodePublishSecretRef:pSecretReference ControllerExpandSecretRef:pSecretReference NodeExpandSecretRef:pSecretReference
CSIVolumeSource Driver:s ReadOnly:x FSType:x VolumeAttributes:x NodePublishSecretRef:pLocalObjectReference
Capabilities Add:x Drop:x
CephFSPersistentVolumeSource Monitors:x Path:s User:s SecretFile:s SecretRef:pSecretReference ReadOnly:b
CephFSVolumeSource Monitors:x Path:s User:s SecretFile:s SecretRef:pLocalObjectReference ReadOnly:b
CinderPersistentVolumeSource VolumeID:s FSType:s ReadOnly:b SecretRef:pSecretReference
CinderVolumeSource VolumeID:s FSType:s ReadOnly:b SecretRef:pLocalObjectReference
ClusterTrustBundleProjection Name:x SignerName:x LabelSelector:x Optional:x Path:s
ConfigMapEnvSource Name:s Optional:x
ConfigMapKeySelector Name:s Key:s Optional:x
ConfigMapProjection Name:s Items:lKeyToPath Optional:x
ConfigMapVolumeSource Name:s Items:lKeyToPath DefaultMode:x Optional:x
Container Name:s Image:s Command:x Args:x WorkingDir:s Ports:lContainerPort EnvFrom:lEnvFromSource Env:lEnvVar Resources:oResourceRequirements ResizePolicy:lContainerResizePolicy RestartPolicy:x RestartPolicyRules:lContainerRestartRule VolumeMounts:lVolumeMount VolumeDevices:lVolumeDevice LivenessProbe:pProbe ReadinessProbe:pProbe StartupProbe:pProbe Lifecycle:pLifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:pSecurityContext Stdin:b StdinOnce:b TTY:b
ContainerPort Name:s HostPort:n ContainerPort:n Protocol:s HostIP:s
ContainerResizePolicy ResourceName:s RestartPolicy:s
ContainerRestartRule Action:s ExitCodes:pContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes Operator:s Values:x
DownwardAPIProjection Items:lDownwardAPIVolumeFile
DownwardAPIVolumeFile Path:s FieldRef:pObjectFieldSelector ResourceFieldRef:pResourceFieldSelector Mode:x
DownwardAPIVolumeSource Items:lDownwardAPIVolumeFile DefaultMode:x
EmptyDirVolumeSource Medium:s SizeLimit:x
EnvFromSource Prefix:s ConfigMapRef:pConfigMapEnvSource SecretRef:pSecretEnvSource
EnvVar Name:s Value:s ValueFrom:pEnvVarSource
EnvVarSource FieldRef:pObjectFieldSelector ResourceFieldRef:pResourceFieldSelector ConfigMapKeyRef:pConfigMapKeySelector SecretKeyRef:pSecretKeySelector FileKeyRef:pFileKeySelector
EphemeralContainer Name:s Image:s Command:x Args:x WorkingDir:s Ports:lContainerPort EnvFrom:lEnvFromSource Env:lEnvVar Resources:oResourceRequirements ResizePolicy:lContainerResizePolicy RestartPolicy:x RestartPolicyRules:lContainerRestartRule VolumeMounts:lVolumeMount VolumeDevices:lVolumeDevice LivenessProbe:pProbe ReadinessProbe:pProbe StartupProbe:pProbe Lifecycle:pLifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:pSecurityContext Stdin:b StdinOnce:b TTY:b TargetContainerName:s
EphemeralVolumeSource VolumeClaimTemplate:pPersistentVolumeClaimTemplate
ExecAction Command:x
FCVolumeSource TargetWWNs:x Lun:x FSType:s ReadOnly:b WWIDs:x
FileKeySelector VolumeName:s Path:s Key:s Optional:x
FlexPersistentVolumeSource Driver:s FSType:s SecretRef:pSecretReference ReadOnly:b Options:x
FlexVolumeSource Driver:s FSType:s SecretRef:pLocalObjectReference ReadOnly:b Options:x
FlockerVolumeSource DatasetName:s DatasetUUID:s
GCEPersistentDiskVolumeSource PDName:s FSType:s Partition:n ReadOnly:b
GRPCAction Port:n Service:x
GitRepoVolumeSource Repository:s Revision:s Directory:s
GlusterfsPersistentVolumeSource EndpointsName:s Path:s ReadOnly:b EndpointsNamespace:x
GlusterfsVolumeSource EndpointsName:s Path:s ReadOnly:b
HTTPGetAction Path:s Port:n Host:s Scheme:s HTTPHeaders:lHTTPHeader
HTTPHeader Name:s Value:s
HostAlias IP:s Hostnames:x
HostPathVolumeSource Path:s Type:x
ISCSIPersistentVolumeSource TargetPortal:s IQN:s Lun:n ISCSIInterface:s FSType:s ReadOnly:b Portals:x DiscoveryCHAPAuth:b SessionCHAPAuth:b SecretRef:pSecretReference InitiatorName:x
ISCSIVolumeSource TargetPortal:s IQN:s Lun:n ISCSIInterface:s FSType:s ReadOnly:b Portals:x DiscoveryCHAPAuth:b SessionCHAPAuth:b SecretRef:pLocalObjectReference InitiatorName:x
ImageVolumeSource Reference:s PullPolicy:s
KeyToPath Key:s Path:s Mode:x
Lifecycle PostStart:pLifecycleHandler PreStop:pLifecycleHandler StopSignal:x
LifecycleHandler Exec:pExecAction HTTPGet:pHTTPGetAction TCPSocket:pTCPSocketAction Sleep:pSleepAction
LocalObjectReference Name:s
LocalVolumeSource Path:s FSType:x
NFSVolumeSource Server:s Path:s ReadOnly:b
NodeAffinity RequiredDuringSchedulingIgnoredDuringExecution:pNodeSelector PreferredDuringSchedulingIgnoredDuringExecution:lPreferredSchedulingTerm
NodeSelector NodeSelectorTerms:lNodeSelectorTerm
NodeSelectorRequirement Key:s Operator:s Values:x
NodeSelectorTerm MatchExpressions:lNodeSelectorRequirement MatchFields:lNodeSelectorRequirement
ObjectFieldSelector APIVersion:s FieldPath:s
ObjectReference Kind:s Namespace:s Name:s UID:s APIVersion:s ResourceVersion:s FieldPath:s
PersistentVolumeClaimSpec AccessModes:x Selector:x Resources:oVolumeResourceRequirements VolumeName:s StorageClassName:x VolumeMode:x DataSource:pTypedLocalObjectReference DataSourceRef:pTypedObjectReference VolumeAttributesClassName:x
PersistentVolumeClaimTemplate ...ObjectMeta Spec:oPersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource ClaimName:s ReadOnly:b
PersistentVolumeSource GCEPersistentDisk:pGCEPersistentDiskVolumeSource AWSElasticBlockStore:pAWSElasticBlockStoreVolumeSource HostPath:pHostPathVolumeSource Glusterfs:pGlusterfsPersistentVolumeSource NFS:pNFSVolumeSource RBD:pRBDPersistentVolumeSource Quobyte:pQuobyteVolumeSource ISCSI:pISCSIPersistentVolumeSource FlexVolume:pFlexPersistentVolumeSource Cinder:pCinderPersistentVolumeSource CephFS:pCephFSPersistentVolumeSource FC:pFCVolumeSource Flocker:pFlockerVolumeSource AzureFile:pAzureFilePersistentVolumeSource VsphereVolume:pVsphereVirtualDiskVolumeSource AzureDisk:pAzureDiskVolumeSource PhotonPersistentDisk:pPhotonPersistentDiskVolumeSource PortworxVolume:pPortworxVolumeSource ScaleIO:pScaleIOPersistentVolumeSource Local:pLocalVolumeSource StorageOS:pStorageOSPersistentVolumeSource CSI:pCSIPersistentVolumeSource
PhotonPersistentDiskVolumeSource PdID:s FSType:s
PodAffinity RequiredDuringSchedulingIgnoredDuringExecution:lPodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:lWeightedPodAffinityTerm
PodAffinityTerm LabelSelector:x Namespaces:x TopologyKey:s NamespaceSelector:x MatchLabelKeys:x MismatchLabelKeys:x
PodAntiAffinity RequiredDuringSchedulingIgnoredDuringExecution:lPodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:lWeightedPodAffinityTerm
PodCertificateProjection SignerName:s KeyType:s MaxExpirationSeconds:x CredentialBundlePath:s KeyPath:s CertificateChainPath:s UserAnnotations:x
PodDNSConfig Nameservers:x Searches:x Options:lPodDNSConfigOption
PodDNSConfigOption Name:s Value:x
PodOS Name:s
PodReadinessGate ConditionType:s
PodResourceClaim Name:s ResourceClaimName:x ResourceClaimTemplateName:x
PodSchedulingGate Name:s
PodSchedulingGroup PodGroupName:x
PodSecurityContext HostNetwork:b HostPID:b HostIPC:b ShareProcessNamespace:x HostUsers:x SELinuxOptions:pSELinuxOptions WindowsOptions:pWindowsSecurityContextOptions RunAsUser:x RunAsGroup:x RunAsNonRoot:x SupplementalGroups:x SupplementalGroupsPolicy:x FSGroup:x FSGroupChangePolicy:x Sysctls:lSysctl SeccompProfile:pSeccompProfile AppArmorProfile:pAppArmorProfile SELinuxChangePolicy:x
PodSpec Volumes:lVolume InitContainers:lContainer Containers:lContainer EphemeralContainers:lEphemeralContainer RestartPolicy:s TerminationGracePeriodSeconds:x ActiveDeadlineSeconds:x DNSPolicy:s NodeSelector:x ServiceAccountName:s AutomountServiceAccountToken:x NodeName:s SecurityContext:pPodSecurityContext ImagePullSecrets:lLocalObjectReference Hostname:s Subdomain:s SetHostnameAsFQDN:x Affinity:pAffinity SchedulerName:s Tolerations:lToleration HostAliases:lHostAlias PriorityClassName:s Priority:x PreemptionPolicy:x DNSConfig:pPodDNSConfig ReadinessGates:lPodReadinessGate RuntimeClassName:x Overhead:x EnableServiceLinks:x TopologySpreadConstraints:lTopologySpreadConstraint OS:pPodOS SchedulingGates:lPodSchedulingGate ResourceClaims:lPodResourceClaim Resources:pResourceRequirements HostnameOverride:x SchedulingGroup:pPodSchedulingGroup
PodTemplateSpec ...ObjectMeta Spec:oPodSpec
PortworxVolumeSource VolumeID:s FSType:s ReadOnly:b
PreferredSchedulingTerm Weight:n Preference:oNodeSelectorTerm
Probe Exec:pExecAction HTTPGet:pHTTPGetAction TCPSocket:pTCPSocketAction GRPC:pGRPCAction InitialDelaySeconds:n TimeoutSeconds:n PeriodSeconds:n SuccessThreshold:n FailureThreshold:n TerminationGracePeriodSeconds:x
ProjectedVolumeSource Sources:lVolumeProjection DefaultMode:x
QuobyteVolumeSource Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s
RBDPersistentVolumeSource CephMonitors:x RBDImage:s FSType:s RBDPool:s RadosUser:s Keyring:s SecretRef:pSecretReference ReadOnly:b
RBDVolumeSource CephMonitors:x RBDImage:s FSType:s RBDPool:s RadosUser:s Keyring:s SecretRef:pLocalObjectReference ReadOnly:b
ResourceClaim Name:s Request:s
ResourceFieldSelector ContainerName:s Resource:s Divisor:q
ResourceRequirements Limits:x Requests:x Claims:lResourceClaim
SELinuxOptions User:s Role:s Type:s Level:s
ScaleIOPersistentVolumeSource Gateway:s System:s SecretRef:pSecretReference SSLEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType:s ReadOnly:b
ScaleIOVolumeSource Gateway:s System:s SecretRef:pLocalObjectReference SSLEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType:s ReadOnly:b
SeccompProfile Type:s LocalhostProfile:x
SecretEnvSource Name:s Optional:x
SecretKeySelector Name:s Key:s Optional:x
SecretProjection Name:s Items:lKeyToPath Optional:x
SecretReference Name:s Namespace:s
SecretVolumeSource SecretName:s Items:lKeyToPath DefaultMode:x Optional:x
SecurityContext Capabilities:pCapabilities Privileged:x SELinuxOptions:pSELinuxOptions WindowsOptions:pWindowsSecurityContextOptions RunAsUser:x RunAsGroup:x RunAsNonRoot:x ReadOnlyRootFilesystem:x AllowPrivilegeEscalation:x ProcMount:x SeccompProfile:pSeccompProfile AppArmorProfile:pAppArmorProfile
ServiceAccountTokenProjection Audience:s ExpirationSeconds:n Path:s
SleepAction Seconds:n
StorageOSPersistentVolumeSource VolumeName:s VolumeNamespace:s FSType:s ReadOnly:b SecretRef:pObjectReference
StorageOSVolumeSource VolumeName:s VolumeNamespace:s FSType:s ReadOnly:b SecretRef:pLocalObjectReference
Sysctl Name:s Value:s
TCPSocketAction Port:n Host:s
Toleration Key:s Operator:s Value:s Effect:s TolerationSeconds:x
TopologySpreadConstraint MaxSkew:n TopologyKey:s WhenUnsatisfiable:s LabelSelector:x MinDomains:x NodeAffinityPolicy:x NodeTaintsPolicy:x MatchLabelKeys:x
TypedLocalObjectReference APIGroup:x Kind:s Name:s
TypedObjectReference APIGroup:x Kind:s Name:s Namespace:x
Volume Name:s HostPath:pHostPathVolumeSource EmptyDir:pEmptyDirVolumeSource GCEPersistentDisk:pGCEPersistentDiskVolumeSource AWSElasticBlockStore:pAWSElasticBlockStoreVolumeSource GitRepo:pGitRepoVolumeSource Secret:pSecretVolumeSource NFS:pNFSVolumeSource ISCSI:pISCSIVolumeSource Glusterfs:pGlusterfsVolumeSource PersistentVolumeClaim:pPersistentVolumeClaimVolumeSource RBD:pRBDVolumeSource Quobyte:pQuobyteVolumeSource FlexVolume:pFlexVolumeSource Cinder:pCinderVolumeSource CephFS:pCephFSVolumeSource Flocker:pFlockerVolumeSource DownwardAPI:pDownwardAPIVolumeSource FC:pFCVolumeSource AzureFile:pAzureFileVolumeSource ConfigMap:pConfigMapVolumeSource VsphereVolume:pVsphereVirtualDiskVolumeSource AzureDisk:pAzureDiskVolumeSource PhotonPersistentDisk:pPhotonPersistentDiskVolumeSource Projected:pProjectedVolumeSource PortworxVolume:pPortworxVolumeSource ScaleIO:pScaleIOVolumeSource StorageOS:pStorageOSVolumeSource CSI:pCSIVolumeSource Ephemeral:pEphemeralVolumeSource Image:pImageVolumeSource
VolumeDevice Name:s DevicePath:s
VolumeMount Name:s ReadOnly:b RecursiveReadOnly:x MountPath:s SubPath:s MountPropagation:x SubPathExpr:s
VolumeProjection Secret:pSecretProjection DownwardAPI:pDownwardAPIProjection ConfigMap:pConfigMapProjection ServiceAccountToken:pServiceAccountTokenProjection ClusterTrustBundle:pClusterTrustBundleProjection PodCertificate:pPodCertificateProjection
VolumeResourceRequirements Limits:x Requests:x
VsphereVirtualDiskVolumeSource VolumePath:s FSType:s StoragePolicyName:s StoragePolicyID:s
WeightedPodAffinityTerm Weight:n PodAffinityTerm:oPodAffinityTerm
WindowsSecurityContextOptions GMSACredentialSpecName:x GMSACredentialSpec:x RunAsUserName:x HostProcess:x
`;
