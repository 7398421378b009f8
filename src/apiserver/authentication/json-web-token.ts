import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isObject, type JsonObject, member } from '../../kube/json.js';

/** A public key. */
export interface VerificationKey {
  readonly key: KeyObject;
  /** The `kid` of tokens: a hash of the key, so the same on every server. */
  readonly id: string;
  readonly algorithm: Algorithm;
}

/** A private key with its public part. */
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

export type Algorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

/** The parts of a token whose signature was not verified. */
export interface UnverifiedToken {
  readonly algorithm: string;
  /** Empty for a token without `kid`. */
  readonly keyId: string;
  readonly claims: JsonObject;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** A key that cannot be read, or of a type that Kubernetes does not sign with. */
export class KeyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeyError';
  }
}

/** Bound on tokens that are parsed; no token of Kubernetes is as long. */
export const TOKEN_LENGTH_MAX = 64 * 1024;

const CURVE_ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
const HASHES: Readonly<Record<Algorithm, string>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
};

export function readSigningKey(pem: string): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new KeyError(`no private key that can be read: ${(cause as Error).message}`);
  }
  return { ...verificationKey(createPublicKey(privateKey)), privateKey };
}

/** Returns every key of a PEM file: of public keys, private keys and certificates. */
export function readVerificationKeys(pem: string): VerificationKey[] {
  const blocks = pem.match(/-----BEGIN ([^-]+)-----[\s\S]*?-----END \1-----/g) ?? [];
  // OpenSSL writes the parameters of a curve before the key.
  const keys = blocks.filter((block) => !block.includes('EC PARAMETERS')).map(readPublicKey);
  if (keys.length === 0) throw new KeyError('no key found');
  return keys;
}

function readPublicKey(block: string): VerificationKey {
  try {
    return verificationKey(createPublicKey(block));
  } catch (cause) {
    if (cause instanceof KeyError) throw cause;
    throw new KeyError(`no key that can be read: ${(cause as Error).message}`);
  }
}

function verificationKey(key: KeyObject): VerificationKey {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const algorithm = key.asymmetricKeyType === 'rsa' ? 'RS256' : CURVE_ALGORITHMS[curve];
  if (!algorithm) throw new KeyError(`tokens cannot be signed with a key of type ${key.asymmetricKeyType} ${curve}`);
  const der = key.export({ type: 'spki', format: 'der' });
  return { key, algorithm, id: createHash('sha256').update(der).digest('base64url') };
}

export function signToken({ privateKey, algorithm, id }: SigningKey, claims: JsonObject): string {
  const signed = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`;
  const signature = sign(HASHES[algorithm], Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** Returns undefined for a text that is not a signed token. */
export function parseToken(token: string): UnverifiedToken | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  const [head, claims, signature, ...rest] = token.split('.');
  if (head === undefined || claims === undefined || signature === undefined || rest.length > 0) return undefined;
  const header = decode(head);
  const body = decode(claims);
  const algorithm = header && member(header, 'alg');
  if (!header || !body || typeof algorithm !== 'string' || !BASE64URL.test(signature)) return undefined;
  // RFC 7515, 4.1.11: tokens with `crit` are refused, because no critical extension is implemented.
  if (Object.hasOwn(header, 'crit')) return undefined;
  const keyId = member(header, 'kid');
  return {
    algorithm,
    keyId: typeof keyId === 'string' ? keyId : '',
    claims: body,
    signed: Buffer.from(`${head}.${claims}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** Verifies with the algorithm of the key; a token that names another one is refused. */
export function isSignedBy(token: UnverifiedToken, { key, algorithm }: VerificationKey): boolean {
  if (token.algorithm !== algorithm) return false;
  return verify(HASHES[algorithm], token.signed, { key, dsaEncoding: 'ieee-p1363' }, token.signature);
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part: string): JsonObject | undefined {
  if (!BASE64URL.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
