import type { JsonObject } from '../../kube/json.js';
import type { AdmissionType } from '../admission/admission.js';
import { admissionRequest } from '../verbs/admission-request.js';
import type { ApiCall } from '../verbs/api-call.js';
import { withNamespace } from '../verbs/create.js';
import { optionsObject, type WriteOptions } from '../verbs/options.js';

/** A call that creates an object which is acted on and never stored. */
export type CreationCall = Omit<ApiCall, 'type'> & { readonly type: AdmissionType };

export interface Creation {
  readonly call: CreationCall;
  /** With kind and apiVersion. */
  readonly object: JsonObject;
  /** That of the path, or of the object where the path has none. */
  readonly name: string;
  readonly options: WriteOptions;
}

/**
 * Admits the creation of an object that is never stored: an Eviction, a Binding, a TokenRequest, a review. `act` gets the
 * object as the mutating plugins left it and must pass the object it is going to act on, checked and completed, to `validate`
 * before it acts.
 */
export async function admitCreation<T>(
  { call, object, name, options }: Creation,
  act: (object: JsonObject, validate: (checked: JsonObject) => Promise<void>) => Promise<T>,
): Promise<T> {
  const { admission } = call.machinery;
  const request = admissionRequest(call, {
    operation: 'CREATE',
    name,
    object: withNamespace(call, object),
    oldObject: undefined,
    options: optionsObject('CreateOptions', options),
    dryRun: options.dryRun,
  });
  await admission.mutate(request);
  return act(request.object!, async (checked) => {
    request.object = checked;
    await admission.validate(request);
  });
}
