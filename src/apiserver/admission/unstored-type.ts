import { TRIVIAL_CONVERSION } from '../registry/built-in-conversions.js';
import { ANY } from '../schema/schema.js';
import type { AdmissionType } from './admission.js';

/** The admission type of a resource that is never stored: it has one version, no defaults and no schema of its own here. */
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
