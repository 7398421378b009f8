import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.js';
import { child, text, texts } from '../../kube/fields.js';
import { type JsonObject, member, objectMember } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import { goQuoteList } from '../values/go-quote.js';
import {
  isSignedBy,
  parseToken,
  readSigningKey,
  readVerificationKeys,
  type SigningKey,
  signToken,
  type UnverifiedToken,
  type VerificationKey,
} from './json-web-token.js';
import { LEGACY_ISSUER, legacyFacts } from './legacy-token.js';
import { type ServiceAccountFacts, serviceAccountUser, serviceAccountUserName } from './service-account-user.js';
import { checkAccount, checkBoundObject } from './stored-subject.js';
import { commonAudiences, type TokenAnswer, TokenError } from './token-error.js';
import { tokenHash } from './token-hash.js';

export interface ServiceAccountTokensOptions {
  readonly objects: ObjectReader;
  /** The first one is that of new tokens; all are accepted. */
  readonly issuers: readonly string[];
  /** Default audiences: of tokens without `aud`, and of TokenRequests that name none. */
  readonly apiAudiences: readonly string[];
  /** PEM of an RSA or EC private key; nothing can be issued without one. */
  readonly signingKeyPem?: string;
  /** PEM files with keys, which replace the signing key for verification if there are any. */
  readonly verificationKeysPem?: readonly string[];
  /** Bound on tokens whose valid signature is remembered. */
  readonly verifiedTokensMax?: number;
  readonly clock?: Clock;
}

export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
  /** The node of a pod. */
  readonly node?: { readonly name: string; readonly uid: string };
}

export interface IssueRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundObject?: BoundObject;
  /** Sets `warnafter` in a token with an extended lifetime. */
  readonly warnAfterSeconds?: number;
}

const VERIFIED_TOKENS_MAX = 4_096;
/** Tolerated difference between the clocks of servers, as in kube-apiserver. */
const LEEWAY_SECONDS = 60;

/** Issues and verifies the tokens of service accounts. */
export class ServiceAccountTokens {
  readonly #options: ServiceAccountTokensOptions;
  readonly #clock: Clock;
  readonly #signingKey: SigningKey | undefined;
  readonly #keys: readonly VerificationKey[];
  /** Claims by hash of the token, oldest first. Only the signature check is skipped for them. */
  readonly #verified = new Map<string, JsonObject>();

  /** Throws KeyError for keys that cannot be used. */
  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#signingKey = options.signingKeyPem === undefined ? undefined : readSigningKey(options.signingKeyPem);
    const further = (options.verificationKeysPem ?? []).flatMap(readVerificationKeys);
    this.#keys = further.length > 0 || !this.#signingKey ? further : [this.#signingKey];
  }

  get apiAudiences(): readonly string[] {
    return this.#options.apiAudiences;
  }

  get verificationKeys(): readonly VerificationKey[] {
    return this.#keys;
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /** Returns a signed token. Throws TokenError without a signing key. */
  issue(request: IssueRequest): string {
    const [issuer] = this.#options.issuers;
    if (!this.#signingKey || issuer === undefined) throw new TokenError('no key to sign tokens with');
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1000);
    // Members in the order kube-apiserver writes them.
    const claims: JsonObject = {
      aud: [...request.audiences],
      exp: nowSeconds + request.expirationSeconds,
      iat: nowSeconds,
      iss: issuer,
      jti: randomUUID(),
      'kubernetes.io': kubernetesClaim(request, nowSeconds),
      nbf: nowSeconds,
      sub: serviceAccountUserName(request),
    };
    return signToken(this.#signingKey, claims);
  }

  /**
   * Returns undefined for a token of another issuer; throws TokenError for one that is not valid.
   * The token must have one of `audiences`, by default those of the API server.
   */
  verify(token: string, audiences: readonly string[] = this.#options.apiAudiences): TokenAnswer | undefined {
    const known = tokenHash(token);
    const claims = this.#verified.get(known) ?? this.#verifySignature(token, known);
    if (!claims) return undefined;
    const matching = this.#matchingAudiences(claims, audiences);
    const isLegacy = member(claims, 'iss') === LEGACY_ISSUER;
    const facts = isLegacy ? legacyFacts(claims, token, this.#options.objects) : this.#facts(claims);
    return { user: serviceAccountUser(facts), audiences: matching };
  }

  #verifySignature(token: string, known: string): JsonObject | undefined {
    const parsed = parseToken(token);
    const issuer = parsed && member(parsed.claims, 'iss');
    if (!parsed || typeof issuer !== 'string') return undefined;
    if (issuer !== LEGACY_ISSUER && !this.#options.issuers.includes(issuer)) return undefined;
    this.#checkSignature(parsed);
    this.#remember(known, parsed.claims);
    return parsed.claims;
  }

  #remember(known: string, claims: JsonObject): void {
    const { verifiedTokensMax = VERIFIED_TOKENS_MAX } = this.#options;
    if (this.#verified.size >= verifiedTokensMax) {
      const [oldest] = this.#verified.keys();
      if (oldest !== undefined) this.#verified.delete(oldest);
    }
    this.#verified.set(known, claims);
  }

  #checkSignature(parsed: UnverifiedToken): void {
    const keys = this.#keys.filter(({ id }) => parsed.keyId === '' || parsed.keyId === id);
    if (keys.length === 0) throw new TokenError('invalid signature, no keys found');
    if (!keys.some((key) => isSignedBy(parsed, key))) {
      throw new TokenError('go-jose/go-jose: error in cryptographic primitive');
    }
  }

  #matchingAudiences(claims: JsonObject, wanted: readonly string[]): string[] {
    const claimed = audiencesOf(claims);
    const audiences = claimed.length > 0 ? claimed : this.#options.apiAudiences;
    const matching = commonAudiences(audiences, wanted);
    if (matching.length === 0 && this.#options.apiAudiences.length > 0) {
      throw new TokenError(
        `token audiences ${goQuoteList(audiences)} is invalid for the target audiences ${goQuoteList(wanted)}`,
      );
    }
    return matching;
  }

  #facts(claims: JsonObject): ServiceAccountFacts {
    this.#checkTimes(claims);
    const privateClaim = objectMember(claims, 'kubernetes.io');
    const namespace = text(privateClaim, 'namespace');
    const account = reference(privateClaim, 'serviceaccount') ?? { name: '', uid: '' };
    const secret = reference(privateClaim, 'secret');
    const pod = reference(privateClaim, 'pod');
    const node = reference(privateClaim, 'node');
    const { objects } = this.#options;
    // An object that is being deleted counts for as long as clocks may differ.
    const deletedBeforeMs = this.#clock.nowMs() - LEEWAY_SECONDS * 1000;
    checkAccount(objects, { namespace, ...account }, deletedBeforeMs);
    if (secret) checkBoundObject(objects, 'secret', { namespace, ...secret }, deletedBeforeMs);
    if (pod) checkBoundObject(objects, 'pod', { namespace, ...pod }, deletedBeforeMs);
    // For a token that is bound to a pod, the node is only information.
    else if (node) checkBoundObject(objects, 'node', { namespace: '', ...node }, deletedBeforeMs);
    const id = text(claims, 'jti');
    return {
      namespace,
      ...account,
      ...(pod ? { pod } : {}),
      ...(node ? { node } : {}),
      ...(id === '' ? {} : { credentialId: `JTI=${id}` }),
    };
  }

  #checkTimes(claims: JsonObject): void {
    const nowSeconds = this.#clock.nowMs() / 1000;
    const notBefore = timeMember(claims, 'nbf');
    const expiry = timeMember(claims, 'exp');
    const issuedAt = timeMember(claims, 'iat');
    if (notBefore !== undefined && nowSeconds + LEEWAY_SECONDS < notBefore) {
      throw new TokenError('service account token is not valid yet');
    }
    if (expiry !== undefined && nowSeconds - LEEWAY_SECONDS > expiry) {
      throw new TokenError('service account token has expired');
    }
    if (issuedAt !== undefined && nowSeconds + LEEWAY_SECONDS < issuedAt) {
      throw new TokenError('service account token is issued in the future');
    }
  }
}

function kubernetesClaim(request: IssueRequest, nowSeconds: number): JsonObject {
  const { boundObject: bound, warnAfterSeconds } = request;
  const claims: JsonObject = { namespace: request.namespace };
  const node = bound?.kind === 'Node' ? bound : bound?.node;
  if (node) claims.node = node.uid === '' ? { name: node.name } : { name: node.name, uid: node.uid };
  if (bound?.kind === 'Pod') claims.pod = { name: bound.name, uid: bound.uid };
  if (bound?.kind === 'Secret') claims.secret = { name: bound.name, uid: bound.uid };
  claims.serviceaccount = { name: request.name, uid: request.uid };
  if (warnAfterSeconds !== undefined) claims.warnafter = nowSeconds + warnAfterSeconds;
  return claims;
}

function audiencesOf(claims: JsonObject): string[] {
  const audience = member(claims, 'aud');
  return typeof audience === 'string' ? [audience] : texts(claims, 'aud');
}

function reference(claims: JsonObject, key: string): { name: string; uid: string } | undefined {
  const value = child(claims, key);
  return value && { name: text(value, 'name'), uid: text(value, 'uid') };
}

function timeMember(claims: JsonObject, key: string): number | undefined {
  const value = member(claims, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw new TokenError('service account token claims could not be validated');
  return value;
}
