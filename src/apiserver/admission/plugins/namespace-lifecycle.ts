import { StatusError } from '../../../kube/status-error.js';
import { child, has, text } from '../../builtin/fields.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { isAbout, refused } from './refusal.js';

const NAMESPACES = { group: '', resource: 'namespaces' };
const UNDELETABLE = new Set(['default', 'kube-system', 'kube-public']);

/** Refuses changes in missing namespaces, and creations in those that are being deleted. */
export function namespaceLifecycle(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate: (request) => {
      const { operation, namespace, type, name } = request;
      if (operation === 'DELETE' && isAbout(request, '', 'namespaces') && UNDELETABLE.has(name)) {
        throw refused(request, 'this namespace may not be deleted');
      }
      // Reviews may name a namespace that does not exist; deletions are always allowed.
      const isReview = type.group === 'authorization.k8s.io' && type.resource === 'localsubjectaccessreviews';
      if (!type.namespaced || namespace === '' || operation === 'DELETE' || isReview) return;
      const found = objects.get(NAMESPACES, '', namespace);
      if (found === undefined) throw missing(namespace);
      const isLeaving =
        has(child(found, 'metadata'), 'deletionTimestamp') || text(child(found, 'status'), 'phase') === 'Terminating';
      if (operation === 'CREATE' && isLeaving) throw leaving(request);
    },
  };
}

function missing(name: string): StatusError {
  return new StatusError('NotFound', `namespaces ${JSON.stringify(name)} not found`, { name, kind: 'namespaces' });
}

function leaving(request: AdmissionRequest): StatusError {
  const { namespace } = request;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return refused(request, why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}
