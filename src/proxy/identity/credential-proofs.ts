import { hash } from 'node:crypto';
import type { Exchange, Reply } from '../../http/exchange.js';
import { bearerCredential, hasSecondBearer } from '../../identity/bearer.js';

/** Credentials that are remembered as accepted. */
export const PROVEN_CREDENTIALS_MAX = 4096;
/** Longer credentials stay unproven, so the memory is bounded by the product of the two. */
export const PROVEN_CREDENTIAL_CHARS_MAX = 4096;

/**
 * Remembers which bearer tokens an API server has accepted. Until then a token may be made up, and its bearer is an
 * unauthenticated caller to the limits. Made-up tokens never enter the memory, so they cannot push others out of it.
 *
 * Keeps the most recent ones in two halves: when the young half is full it becomes the old one.
 */
export class CredentialProofs {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** The flow of a proven credential. */
  flowOf(credential: string): string | undefined {
    const young = this.#young.get(credential);
    if (young !== undefined) return young;
    const old = this.#old.get(credential);
    if (old !== undefined) this.#remember(credential, old);
    return old;
  }

  /** Learns from a server's reply to a request whether its credential is accepted, and returns that. */
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
 * A success or a 403 follows authentication in kube-apiserver. Other refusals (a malformed timeout, a shutdown) may come
 * before it, and so does the reply to a CORS preflight.
 */
function showsAcceptance(method: string, status: number): boolean {
  return method !== 'OPTIONS' && ((status >= 200 && status < 300) || status === 304 || status === 403);
}

/** One user may have thousands of tokens; those of service accounts and OpenID Connect name their subject. */
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
