import type { JsonObject } from '../../../kube/json.js';
import { child, childOrNew, has, text, textMap } from '../../builtin/fields.js';
import type { GroupResource, ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin } from '../admission.js';
import { isAbout } from './refusal.js';

const annotationsOf = (object: JsonObject): Readonly<Record<string, string>> =>
  textMap(child(object, 'metadata'), 'annotations');

/** Those that are marked as the default, newest first, then by name. */
function defaults(objects: ObjectReader, what: GroupResource, annotations: readonly string[]): JsonObject[] {
  const made = (object: JsonObject): string => text(child(object, 'metadata'), 'creationTimestamp');
  const nameOf = (object: JsonObject): string => text(child(object, 'metadata'), 'name');
  return objects
    .list(what)
    .filter((each) => annotations.some((key) => annotationsOf(each)[key] === 'true'))
    .sort((left, right) => made(right).localeCompare(made(left)) || nameOf(left).localeCompare(nameOf(right)));
}

/** Claims that name no class get the default one. */
export function defaultStorageClass(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    mutate: (request) => {
      const { object: claim, operation } = request;
      if (!isAbout(request, '', 'persistentvolumeclaims') || operation !== 'CREATE' || claim === undefined) return;
      const hasOldClass = Object.hasOwn(annotationsOf(claim), 'volume.beta.kubernetes.io/storage-class');
      const spec = childOrNew(claim, 'spec');
      if (hasOldClass || has(spec, 'storageClassName')) return;
      const [found] = defaults(objects, { group: 'storage.k8s.io', resource: 'storageclasses' }, [
        'storageclass.kubernetes.io/is-default-class',
        'storageclass.beta.kubernetes.io/is-default-class',
      ]);
      if (found !== undefined) spec['storageClassName'] = text(child(found, 'metadata'), 'name');
    },
  };
}

/** Ingresses that name no class get the default one. */
export function defaultIngressClass(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    mutate: (request) => {
      const { object: ingress, operation } = request;
      if (!isAbout(request, 'networking.k8s.io', 'ingresses') || operation !== 'CREATE' || ingress === undefined)
        return;
      const spec = childOrNew(ingress, 'spec');
      const hasOldClass = Object.hasOwn(annotationsOf(ingress), 'kubernetes.io/ingress.class');
      if (hasOldClass || has(spec, 'ingressClassName')) return;
      const [found] = defaults(objects, { group: 'networking.k8s.io', resource: 'ingressclasses' }, [
        'ingressclass.kubernetes.io/is-default-class',
      ]);
      if (found !== undefined) spec['ingressClassName'] = text(child(found, 'metadata'), 'name');
    },
  };
}
