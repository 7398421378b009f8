import { childOrNew, texts } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { isAbout } from './refusal.js';

const FINALIZERS: readonly (readonly [group: string, resource: string, finalizer: string])[] = [
  ['', 'persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['', 'persistentvolumes', 'kubernetes.io/pv-protection'],
  ['storage.k8s.io', 'volumeattributesclasses', 'kubernetes.io/vac-protection'],
];

/** Volumes and claims don't go while somebody uses them. */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    mutate: (request) => {
      const { object, operation } = request;
      if (operation !== 'CREATE' || object === undefined) return;
      for (const [group, resource, finalizer] of FINALIZERS) {
        if (!isAbout(request, group, resource)) continue;
        const metadata = childOrNew(object, 'metadata');
        const finalizers = texts(metadata, 'finalizers');
        if (!finalizers.includes(finalizer)) metadata['finalizers'] = [...finalizers, finalizer];
      }
    },
  };
}
