module straddle.test/real/kube-1.33

go 1.24.0

require (
	k8s.io/kubernetes v1.33.13
	k8s.io/api v0.33.13
	k8s.io/apiextensions-apiserver v0.33.13
	k8s.io/apimachinery v0.33.13
	k8s.io/apiserver v0.33.13
	k8s.io/cli-runtime v0.33.13
	k8s.io/client-go v0.33.13
	k8s.io/cloud-provider v0.33.13
	k8s.io/cluster-bootstrap v0.33.13
	k8s.io/code-generator v0.33.13
	k8s.io/component-base v0.33.13
	k8s.io/component-helpers v0.33.13
	k8s.io/controller-manager v0.33.13
	k8s.io/cri-api v0.33.13
	k8s.io/cri-client v0.33.13
	k8s.io/csi-translation-lib v0.33.13
	k8s.io/dynamic-resource-allocation v0.33.13
	k8s.io/endpointslice v0.33.13
	k8s.io/externaljwt v0.33.13
	k8s.io/kms v0.33.13
	k8s.io/kube-aggregator v0.33.13
	k8s.io/kube-controller-manager v0.33.13
	k8s.io/kube-proxy v0.33.13
	k8s.io/kube-scheduler v0.33.13
	k8s.io/kubectl v0.33.13
	k8s.io/kubelet v0.33.13
	k8s.io/metrics v0.33.13
	k8s.io/mount-utils v0.33.13
	k8s.io/pod-security-admission v0.33.13
	k8s.io/sample-apiserver v0.33.13
)
