import type { GroupResource } from '../contracts/object-reader.js';

/**
 * Built-in resources, of every Kubernetes version, stored at `/registry/<group>/<resource>/`, where the objects of a
 * CustomResourceDefinition of that name would be stored as well. Closed: an entry that is added or removed moves the
 * objects of a resource. Resources of the core group and of groups without a dot are not listed, because no
 * CustomResourceDefinition can have such a group.
 */
const SHARING_LAYOUT: Readonly<Record<string, string>> = {
  'admissionregistration.k8s.io':
    'mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations ' +
    'validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations',
  'apiextensions.k8s.io': 'customresourcedefinitions',
  'apiregistration.k8s.io': 'apiservices',
  'auditregistration.k8s.io': 'auditsinks',
  'authentication.k8s.io': 'selfsubjectreviews tokenreviews',
  'authorization.k8s.io':
    'localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews',
  'certificates.k8s.io': 'certificatesigningrequests clustertrustbundles podcertificaterequests',
  'coordination.k8s.io': 'leasecandidates leases',
  'discovery.k8s.io': 'endpointslices',
  'events.k8s.io': 'events',
  'flowcontrol.apiserver.k8s.io': 'flowschemas prioritylevelconfigurations',
  'internal.apiserver.k8s.io': 'storageversions',
  'networking.k8s.io': 'clustercidrs ingressclasses ingresses ipaddresses networkpolicies servicecidrs',
  'node.k8s.io': 'runtimeclasses',
  'rbac.authorization.k8s.io': 'clusterrolebindings clusterroles rolebindings roles',
  'resource.k8s.io':
    'deviceclasses devicetaintrules podschedulingcontexts resourceclaimparameters resourceclaims ' +
    'resourceclaimtemplates resourceclasses resourceclassparameters resourcepoolstatusrequests resourceslices',
  'scheduling.k8s.io': 'podgroups priorityclasses workloads',
  'settings.k8s.io': 'podpresets',
  'storage.k8s.io': 'csidrivers csinodes csistoragecapacities storageclasses volumeattachments volumeattributesclasses',
  'storagemigration.k8s.io': 'storageversionmigrations',
};

/** Built-in resources of newer versions. A surface that ships with Straddle is listed here or above, completely. */
const SEPARATE_LAYOUT: Readonly<Record<string, string>> = {
  'lifecycle.k8s.io': 'evictionrequests evictions',
  'scheduling.k8s.io': 'compositepodgroups',
};

const sharing = namesIn(SHARING_LAYOUT);
const shipped = new Set([...sharing, ...namesIn(SEPARATE_LAYOUT)]);

/** Whether a built-in resource of some Kubernetes version is stored where custom resources of this name would be. */
export function sharesCustomLayout(what: GroupResource): boolean {
  return sharing.has(nameOf(what));
}

/** Whether some Kubernetes version known to this build has a built-in resource of this name. */
export function isBuiltInName(what: GroupResource): boolean {
  return shipped.has(nameOf(what));
}

function namesIn(table: Readonly<Record<string, string>>): ReadonlySet<string> {
  return new Set(
    Object.entries(table).flatMap(([group, resources]) =>
      resources.split(' ').map((resource) => nameOf({ group, resource })),
    ),
  );
}

/** As a CustomResourceDefinition of that resource is named. */
function nameOf({ group, resource }: GroupResource): string {
  return `${resource}.${group}`;
}
