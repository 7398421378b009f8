import { TRIVIAL_CONVERSION } from '../registry/built-in-conversions.js';
import { ANY } from '../schema/schema.js';
import type { AdmissionType } from './admission.js';

/** Returns the admission type of a resource that is never stored: one version, no schema. */
export function unstoredType(
  resource: Pick<AdmissionType, 'group' | 'version' | 'resource' | 'kind' | 'namespaced' | 'subresources'>,
): AdmissionType {
  return {
    ...resource,
    origin: 'built-in',
    schema: ANY,
    conversion: TRIVIAL_CONVERSION,
    strategy: { setDefaults: (object) => object },
  };
}
