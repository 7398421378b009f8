import type { GroupVersionKind } from '../../../kube/gvr.js';
import type { AdmissionType } from '../admission.js';
import type { Webhook } from './webhook.js';

/** Returns the kind of a resource or of one of its subresources. */
export function kindOf(type: AdmissionType, subresource: string): GroupVersionKind | undefined {
  if (subresource === '') return { group: type.group, version: type.version, kind: type.kind };
  const found = type.subresources.get(subresource);
  return found && { group: found.kindGroup, version: found.kindVersion, kind: found.kind };
}

/** A webhook to be called, and the version of the objects that it gets. */
export interface Invocation {
  readonly webhook: Webhook;
  readonly type: AdmissionType;
  readonly kind: GroupVersionKind;
}
