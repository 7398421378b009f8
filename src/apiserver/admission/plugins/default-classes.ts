import { child, text } from '../../../kube/fields.js';
import type { JsonObject } from '../../../kube/json.js';
import { metadataOf, nameOf } from '../../../kube/metadata-of.js';
import { childOrNew, has, textMap } from '../../builtin/fields.js';
import type { GroupResource, ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin } from '../admission.js';
import { created } from './refusal.js';

interface DefaultedClass {
  readonly name: string;
  /** Resource that names a class: in `field` of the spec or, formerly, in `oldAnnotation`. */
  readonly of: GroupResource;
  readonly field: string;
  readonly oldAnnotation: string;
  readonly classes: GroupResource;
  /** Annotations that mark a class as the default. */
  readonly marks: readonly string[];
}

const STORAGE_CLASS: DefaultedClass = {
  name: 'DefaultStorageClass',
  of: { group: '', resource: 'persistentvolumeclaims' },
  field: 'storageClassName',
  oldAnnotation: 'volume.beta.kubernetes.io/storage-class',
  classes: { group: 'storage.k8s.io', resource: 'storageclasses' },
  marks: ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'],
};
const INGRESS_CLASS: DefaultedClass = {
  name: 'DefaultIngressClass',
  of: { group: 'networking.k8s.io', resource: 'ingresses' },
  field: 'ingressClassName',
  oldAnnotation: 'kubernetes.io/ingress.class',
  classes: { group: 'networking.k8s.io', resource: 'ingressclasses' },
  marks: ['ingressclass.kubernetes.io/is-default-class'],
};

export const defaultStorageClass = (objects: ObjectReader): AdmissionPlugin => defaultClass(objects, STORAGE_CLASS);
export const defaultIngressClass = (objects: ObjectReader): AdmissionPlugin => defaultClass(objects, INGRESS_CLASS);

/** Sets the default class, the newest of several, on new objects that name none. */
function defaultClass(objects: ObjectReader, defaulted: DefaultedClass): AdmissionPlugin {
  const { name, of, field, oldAnnotation, classes, marks } = defaulted;
  return {
    name,
    mutate: (request) => {
      const object = created(request, of.group, of.resource);
      if (object === undefined || Object.hasOwn(annotationsOf(object), oldAnnotation)) return;
      const spec = childOrNew(object, 'spec');
      if (has(spec, field)) return;
      const [found] = objects
        .list(classes)
        .filter((each) => marks.some((key) => annotationsOf(each)[key] === 'true'))
        .sort((left, right) => madeAt(right).localeCompare(madeAt(left)) || nameOf(left).localeCompare(nameOf(right)));
      if (found !== undefined) spec[field] = nameOf(found);
    },
  };
}

function annotationsOf(object: JsonObject): Readonly<Record<string, string>> {
  return textMap(child(object, 'metadata'), 'annotations');
}

function madeAt(object: JsonObject): string {
  return text(metadataOf(object), 'creationTimestamp');
}
