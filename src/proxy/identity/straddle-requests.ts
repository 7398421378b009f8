import { readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../../base/clock.js';
import { AttemptError } from '../../http/attempt-error.js';
import { DeadlineError } from '../../http/deadline.js';
import type { Handler, Reply } from '../../http/exchange.js';
import type { RawHeaders } from '../../http/headers.js';
import type { EstablishedIdentity } from '../../http/identity.js';
import type { OnAbort } from '../../http/on-abort.js';
import type { Destination, Lane, Send } from '../../http/outgoing.js';
import { sendInProcess, sendTo } from '../../http/send-to.js';
import { PROBE_TIMEOUT_MS, probeReadyz } from '../../http/server-health.js';

/** User of Straddle's requests; `straddle rbac` prints the manifest with its rights. */
export const STRADDLE_USER = 'system:straddle';

const STRADDLE_IDENTITY: EstablishedIdentity = {
  kind: 'established',
  user: STRADDLE_USER,
  uid: '',
  groups: [],
  extra: new Map(),
};

export interface StraddleRequestsOptions {
  /** Whether there is a front-proxy certificate; without it, Straddle's requests are anonymous. */
  readonly frontProxy: boolean;
  /** Header field with the user name. */
  readonly userHeader: string;
  readonly clock?: Clock;
}

/** Requests that Straddle sends to servers on its own behalf: discovery reads and health probes. */
export class StraddleRequests {
  readonly #lane: Lane;
  readonly #identityHeaders: RawHeaders;
  readonly #clock: Clock;

  constructor(options: StraddleRequestsOptions) {
    this.#lane = options.frontProxy ? 'front-proxy' : 'plain';
    this.#identityHeaders = options.frontProxy ? [options.userHeader, STRADDLE_USER] : [];
    this.#clock = options.clock ?? systemClock;
  }

  /** Returns a function that sends GETs marked as rerouted: the server replies for itself only. */
  fetchFrom(destination: Destination) {
    const send = this.#sendTo(destination);
    return (path: string, headers: RawHeaders, onAbort: OnAbort): Promise<Reply> =>
      send('GET', path, [...headers, 'x-kubernetes-peer-proxied', 'true'], null, onAbort);
  }

  /** Returns true if a server is ready, else the reason. Rejects with AttemptError. */
  async probeReady(destination: Destination, timeoutMs = PROBE_TIMEOUT_MS): Promise<true | string> {
    const get = (path: string, onAbort: OnAbort) => this.#sendTo(destination)('GET', path, [], null, onAbort);
    try {
      const { status } = await probeReadyz(get, this.#clock, timeoutMs);
      // A ready server may refuse an anonymous probe. A server that authenticates the probe refuses
      // it only during its start, before it has read its RBAC rules.
      const refused = status === 401 || status === 403;
      return status === 200 || (refused && this.#lane === 'plain') || `/readyz answers ${status}`;
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      throw new AttemptError('maybe', 'timeout', `${destination.address}: timeout: no reply to a probe`, error);
    }
  }

  #sendTo(destination: Destination): Send {
    return sendTo(destination, this.#lane, () => this.#identityHeaders);
  }
}

/**
 * Returns a function that sends requests through the routing of this process, as Straddle's user by
 * default: to the local server, or to a peer while it is down.
 */
export function sendThrough(
  handler: () => Handler,
  nowMs: () => number,
  identity: EstablishedIdentity = STRADDLE_IDENTITY,
): Send {
  return sendInProcess({ handler, nowMs, identity, headers: ['Host', 'straddle', 'User-Agent', 'straddle'] });
}

export interface DirectAccess {
  readonly destination: Destination;
  /** Path prefix of the API, `''` or `/prefix`. */
  readonly basePath: string;
  readonly hasCertificate: boolean;
  readonly token: string | undefined;
  /** Read before each request: such tokens are rotated. */
  readonly tokenFile: string | undefined;
}

/** Returns a function that sends requests with the credentials of a kubeconfig, to its server. */
export function sendDirectly({ destination, basePath, hasCertificate, token, tokenFile }: DirectAccess): Send {
  const send = sendTo(destination, hasCertificate ? 'front-proxy' : 'plain', () => {
    const current = tokenFile ? readFileSync(tokenFile, 'utf8').trim() : token;
    return current ? ['Authorization', `Bearer ${current}`] : [];
  });
  return (method, target, headers, body, onAbort) => send(method, `${basePath}${target}`, headers, body, onAbort);
}
