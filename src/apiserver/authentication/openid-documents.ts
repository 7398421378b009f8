import type { JsonObject } from '../../kube/json.js';
import type { VerificationKey } from './json-web-token.js';

/** Documents with which other servers verify service-account tokens. */
export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const OPENID_KEYS_PATH = '/openid/v1/jwks';
export const OPENID_KEYS_MEDIA_TYPE = 'application/jwk-set+json';
/** Cache lifetime of both documents. */
export const OPENID_MAX_AGE_SECONDS = 3600;

export function openIdConfiguration(
  issuer: string,
  keysUrl: string,
  keys: readonly Pick<VerificationKey, 'algorithm'>[],
): JsonObject {
  return {
    issuer,
    jwks_uri: keysUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
}

export function openIdKeys(keys: readonly VerificationKey[]): JsonObject {
  return {
    keys: keys.map(({ key, id, algorithm }) => {
      const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' });
      const parts = kty === 'RSA' ? { n: n!, e: e! } : { crv: crv!, x: x!, y: y! };
      return { use: 'sig', kty: kty!, kid: id, ...order(algorithm, parts) };
    }),
  };
}

/** Members in kube-apiserver's order: the curve before the algorithm, numbers after it. */
function order(algorithm: string, { crv, ...numbers }: Record<string, string>): JsonObject {
  return { ...(crv === undefined ? {} : { crv }), alg: algorithm, ...numbers };
}
