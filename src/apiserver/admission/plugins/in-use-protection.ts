import { childOrNew, texts } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { created } from './refusal.js';

const FINALIZERS: readonly (readonly [group: string, resource: string, finalizer: string])[] = [
  ['', 'persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['', 'persistentvolumes', 'kubernetes.io/pv-protection'],
  ['storage.k8s.io', 'volumeattributesclasses', 'kubernetes.io/vac-protection'],
];

/** Adds the finalizers that keep volumes and claims in use from being removed. */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    mutate: (request) => {
      for (const [group, resource, finalizer] of FINALIZERS) {
        const object = created(request, group, resource);
        if (object === undefined) continue;
        const metadata = childOrNew(object, 'metadata');
        const finalizers = texts(metadata, 'finalizers');
        if (!finalizers.includes(finalizer)) metadata['finalizers'] = [...finalizers, finalizer];
      }
    },
  };
}
