import type { JsonObject } from '../../kube/json.js';
import { apiVersionOf, type ResourceKind } from '../../kube/resource-kind.js';

/** A resource that only the newer version serves, and a template for its objects. */
export interface Skew {
  readonly kind: ResourceKind;
  /** `podcertificaterequests.v1.certificates.k8s.io` */
  readonly name: string;
  /** A valid object without its metadata. */
  readonly template: JsonObject;
}

/** A subresource that only the newer version serves, of an object that clients get and patch. */
export interface SkewedSubresource extends Skew {
  /** Kind, name and template are those of the resource. */
  readonly subresource: string;
  readonly verbs: ReadonlySet<string>;
}

/** Returns a whole object of the kind. */
export function skewedObject({ kind, template }: Skew, metadata: JsonObject): JsonObject {
  return { ...template, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
}
