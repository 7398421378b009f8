import type { JsonObject } from '../../kube/json.js';
import type { AdmissionType } from '../admission/admission.js';
import { admissionRequest } from '../verbs/admission-request.js';
import type { ApiCall } from '../verbs/api-call.js';
import { withNamespace } from '../verbs/create.js';
import { optionsObject, type WriteOptions } from '../verbs/options.js';

/** A call that creates an object that is never stored. */
export type CreationCall = Omit<ApiCall, 'type'> & { readonly type: AdmissionType };

/** The reply to a creation that has no other result. */
export const CREATED: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

interface Creation {
  readonly call: CreationCall;
  /** With kind and apiVersion. */
  readonly object: JsonObject;
  /** The name in the path, or of the object if the path has none. */
  readonly name: string;
  readonly options: WriteOptions;
}

/**
 * Admits the creation of an object that is never stored: an Eviction, a Binding, a TokenRequest, a
 * review. `act` gets the object after mutating admission. It must pass the checked and completed object
 * to `validate` before it acts on it.
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
