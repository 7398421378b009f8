import { hash } from 'node:crypto';
import { bearerCredential, hasSecondBearer } from '../../http/bearer.js';
import type { Exchange, Reply } from '../../http/exchange.js';

/** Bound on stored credentials. */
export const PROVEN_CREDENTIALS_MAX = 4096;
/** Longer credentials are not stored, which bounds the memory to the product of the two. */
export const PROVEN_CREDENTIAL_CHARS_MAX = 4096;

/**
 * Stores bearer tokens that an API server has accepted. Before that, a token may be made up, and
 * the limits treat its bearer as unauthenticated. Only accepted tokens are stored, so made-up
 * tokens cannot evict others.
 *
 * Keeps the most recently used tokens in two generations: when the young one is full it replaces
 * the old one.
 */
export class CredentialProofs {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Returns the flow of a proven credential, undefined for any other. */
  flowOf(credential: string): string | undefined {
    const young = this.#young.get(credential);
    if (young !== undefined) return young;
    const old = this.#old.get(credential);
    if (old !== undefined) this.#remember(credential, old);
    return old;
  }

  /** Records whether a server accepted the request's credential, by its reply; returns that. */
  judge(exchange: Exchange, { status }: Reply): boolean {
    const { identity, routed, method } = exchange;
    if (identity.kind !== 'carried' || routed === undefined) return false;
    if (identity.proven && status !== 401) return true;
    const isAccepted = showsAcceptance(method, status);
    if (!isAccepted && !identity.proven) return false;
    const credential = bearerCredential(exchange);
    if (credential === undefined) return false;
    if (hasSecondBearer(exchange)) return isAccepted;
    if (!isAccepted) this.#forget(credential);
    else if (credential.length <= PROVEN_CREDENTIAL_CHARS_MAX) this.#remember(credential, nameOf(credential));
    return isAccepted;
  }

  #remember(credential: string, flow: string): void {
    if (this.#young.size >= PROVEN_CREDENTIALS_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(credential, flow);
  }

  #forget(credential: string): void {
    this.#young.delete(credential);
    this.#old.delete(credential);
  }
}

/**
 * Returns whether a reply proves authentication: in kube-apiserver a success or a 403 follows it.
 * Other errors (a malformed timeout, a shutdown) may precede it, and so does the reply to a CORS
 * preflight.
 */
function showsAcceptance(method: string, status: number): boolean {
  return method !== 'OPTIONS' && ((status >= 200 && status < 300) || status === 304 || status === 403);
}

/**
 * Returns the flow name. One user may have thousands of tokens; JWTs of service accounts and OpenID
 * Connect share their subject.
 */
function nameOf(credential: string): string {
  return subjectOf(credential) ?? `token:${hash('sha256', credential).slice(0, 16)}`;
}

function subjectOf(credential: string): string | undefined {
  const payload = /^[^.]+\.([^.]+)\.[^.]+$/.exec(credential)?.[1];
  if (payload === undefined) return undefined;
  try {
    const { iss, sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    return typeof iss === 'string' && typeof sub === 'string' ? `subject:${iss} ${sub}` : undefined;
  } catch {
    return undefined;
  }
}
