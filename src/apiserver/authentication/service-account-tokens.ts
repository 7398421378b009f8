import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.js';
import { isObject, type Json, type JsonObject, member, objectMember } from '../../kube/json.js';
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
  /** The first one signs; all are believed. */
  readonly issuers: readonly string[];
  /** What a token is for that says nothing else, and what it is asked for without a word about it. */
  readonly apiAudiences: readonly string[];
  /** PEM of an RSA or EC private key; nothing can be issued without one. */
  readonly signingKeyPem?: string;
  /** PEM of further keys that are believed, each with one or several. Only these, and not the signing key, if there are any. */
  readonly verificationKeysPem?: readonly string[];
  /** Tokens whose signature is remembered to be good. */
  readonly verifiedTokensMax?: number;
  readonly clock?: Clock;
}

export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
  /** Of a pod: where it runs. */
  readonly node?: { readonly name: string; readonly uid: string };
}

export interface IssueRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundObject?: BoundObject;
  /** When whoever still uses it should be told, for tokens that outlive what was asked for. */
  readonly warnAfterSeconds?: number;
}

export interface IssuedToken {
  readonly token: string;
  /** RFC 3339. */
  readonly expirationTimestamp: string;
}

const VERIFIED_TOKENS_MAX = 4_096;
/** Clocks of servers differ; as much is forgiven as kube-apiserver forgives. */
const LEEWAY_SECONDS = 60;

/** Makes and checks the tokens of service accounts. */
export class ServiceAccountTokens {
  readonly #options: ServiceAccountTokensOptions;
  readonly #clock: Clock;
  readonly #signingKey: SigningKey | undefined;
  readonly #keys: readonly VerificationKey[];
  /** By a hash of the token, oldest first. Only signatures are remembered: whoever was deleted since is noticed at once. */
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

  issue(request: IssueRequest): IssuedToken {
    const [issuer] = this.#options.issuers;
    if (!this.#signingKey || issuer === undefined) throw new TokenError('no key to sign tokens with');
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1000);
    const expiresSeconds = nowSeconds + request.expirationSeconds;
    // Members in the order kube-apiserver writes them.
    const claims: JsonObject = {
      aud: [...request.audiences],
      exp: expiresSeconds,
      iat: nowSeconds,
      iss: issuer,
      jti: randomUUID(),
      'kubernetes.io': ownClaims(request, nowSeconds),
      nbf: nowSeconds,
      sub: serviceAccountUserName(request),
    };
    const expirationTimestamp = new Date(expiresSeconds * 1000).toISOString().replace('.000Z', 'Z');
    return { token: signToken(this.#signingKey, claims), expirationTimestamp };
  }

  /**
   * Undefined for what is not a token of any of our issuers; TokenError for one that does not count. `audiences` are those
   * that the token should be for (one is enough); the API server's own without.
   */
  verify(token: string, audiences: readonly string[] = this.#options.apiAudiences): TokenAnswer | undefined {
    const known = tokenHash(token);
    const claims = this.#verified.get(known) ?? this.#verifySignature(token, known);
    if (!claims) return undefined;
    const matching = this.#matchingAudiences(claims, audiences);
    const facts = member(claims, 'iss') === LEGACY_ISSUER ? this.#legacyFacts(claims, token) : this.#facts(claims);
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

  #legacyFacts(claims: JsonObject, token: string): ServiceAccountFacts {
    return legacyFacts(claims, token, this.#options.objects);
  }

  #facts(claims: JsonObject): ServiceAccountFacts {
    this.#checkTimes(claims);
    const own = objectMember(claims, 'kubernetes.io');
    const namespace = stringMember(own, 'namespace');
    const account = reference(own, 'serviceaccount') ?? { name: '', uid: '' };
    const secret = reference(own, 'secret');
    const pod = reference(own, 'pod');
    const node = reference(own, 'node');
    const { objects } = this.#options;
    // What is being deleted counts a little longer, as long as clocks may differ.
    const deletedBeforeMs = this.#clock.nowMs() - LEEWAY_SECONDS * 1000;
    checkAccount(objects, { namespace, ...account }, deletedBeforeMs);
    if (secret) checkBoundObject(objects, 'secret', { namespace, ...secret }, deletedBeforeMs);
    if (pod) checkBoundObject(objects, 'pod', { namespace, ...pod }, deletedBeforeMs);
    // The node of a pod's token is only told, the node of another is what it stands and falls with.
    else if (node) checkBoundObject(objects, 'node', { namespace: '', ...node }, deletedBeforeMs);
    const id = stringMember(claims, 'jti');
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

function ownClaims(request: IssueRequest, nowSeconds: number): JsonObject {
  const { boundObject: bound, warnAfterSeconds } = request;
  const own: JsonObject = { namespace: request.namespace };
  const node = bound?.kind === 'Node' ? bound : bound?.node;
  if (node) own.node = node.uid === '' ? { name: node.name } : { name: node.name, uid: node.uid };
  if (bound?.kind === 'Pod') own.pod = { name: bound.name, uid: bound.uid };
  if (bound?.kind === 'Secret') own.secret = { name: bound.name, uid: bound.uid };
  own.serviceaccount = { name: request.name, uid: request.uid };
  if (warnAfterSeconds !== undefined) own.warnafter = nowSeconds + warnAfterSeconds;
  return own;
}

function audiencesOf(claims: JsonObject): string[] {
  const audience = member(claims, 'aud');
  if (typeof audience === 'string') return [audience];
  return Array.isArray(audience) ? audience.filter((each) => typeof each === 'string') : [];
}

function reference(own: JsonObject, key: string): { name: string; uid: string } | undefined {
  const value = member(own, key);
  return isObject(value) ? { name: stringMember(value, 'name'), uid: stringMember(value, 'uid') } : undefined;
}

function stringMember(object: JsonObject, key: string): string {
  const value = member(object, key);
  return typeof value === 'string' ? value : '';
}

function timeMember(claims: JsonObject, key: string): number | undefined {
  const value: Json | undefined = member(claims, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw new TokenError('service account token claims could not be validated');
  return value;
}
