import type { Json, JsonObject } from '../../kube/json.js';
import { goText } from '../values/go-text.js';
import { PatchError } from './json-patch-error.js';

/** How one member of an object is patched. */
export interface PatchField {
  /** `x-kubernetes-patch-strategy`, split at commas. None is: merge for objects, replace for lists. */
  readonly strategies: readonly string[];
  /** `x-kubernetes-patch-merge-key`: what tells the items of a merged list apart. */
  readonly mergeKey?: string;
  /** Of the member itself, or of the items when it is a list. */
  readonly schema?: PatchSchema;
}

/** What strategic merge patch has to know of a type. */
export interface PatchSchema {
  field(name: string): PatchField | undefined;
}

export const PATCH_DIRECTIVE = '$patch';

export function unknownDirective(directive: Json, patch: JsonObject): PatchError {
  return new PatchError('InternalError', `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
}
