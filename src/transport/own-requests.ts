import { readFileSync } from 'node:fs';
import { AttemptError } from '../core/host.js';
import { readBody } from '../http/body-stream.js';
import { type ClientConnection, Exchange, type Handler, type Reply } from '../http/exchange.js';
import type { RawHeaders } from '../http/headers.js';
import type { EstablishedIdentity } from '../http/identity.js';
import type { Destination, Lane } from '../http/outgoing.js';
import { parseRequestInfo } from '../kube/request-info.js';

/** Straddle's own user; its rights are in the manifest that `straddle rbac` prints. */
export const OWN_USER = 'system:straddle';

const OWN_IDENTITY: EstablishedIdentity = {
  kind: 'established',
  user: OWN_USER,
  uid: '',
  groups: [],
  extra: new Map(),
};

const OWN_CONNECTION: ClientConnection = { remoteAddress: '', certificateChain: [] };
const READYZ_BYTES_MAX = 64 * 1024;

type OnAbort = (listener: () => void) => () => void;

export interface OwnRequestsOptions {
  /** Whether there is a front-proxy certificate; without it own requests are anonymous. */
  readonly frontProxy: boolean;
  /** The field that names the user to servers. */
  readonly userHeader: string;
}

/** The requests Straddle makes for itself: reading discovery, probing health, keeping its lease. */
export class OwnRequests {
  readonly #lane: Lane;
  readonly #identityHeaders: RawHeaders;

  constructor(options: OwnRequestsOptions) {
    this.#lane = options.frontProxy ? 'front-proxy' : 'plain';
    this.#identityHeaders = options.frontProxy ? [options.userHeader, OWN_USER] : [];
  }

  /** GETs from one server, which is to answer for itself only. */
  fetchFrom(destination: Destination) {
    return (path: string, headers: RawHeaders, onAbort: OnAbort): Promise<Reply> =>
      this.#send(destination, path, [...headers, 'x-kubernetes-peer-proxied', 'true'], onAbort);
  }

  /** True if a server takes requests, else why not. Rejects with AttemptError when it cannot be reached. */
  async probeReady(destination: Destination, timeoutMs: number): Promise<true | string> {
    const late = new AttemptError('maybe', 'timeout', `${destination.address}: no answer to a probe`);
    let abort = () => {};
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(late);
        abort();
      }, timeoutMs);
    });
    const asked = this.#send(destination, '/readyz', [], (listener) => {
      abort = listener;
      return () => {};
    });
    try {
      const reply = await Promise.race([asked, expired]);
      await Promise.race([readBody(reply.body, READYZ_BYTES_MAX), expired]);
      // Whoever asks without a name may be refused by a server that is up. One that knows us refuses only while it
      // starts and has not read its rules yet.
      const refused = reply.status === 401 || reply.status === 403;
      return reply.status === 200 || (refused && this.#lane === 'plain') || `/readyz answers ${reply.status}`;
    } finally {
      clearTimeout(timer);
      asked.catch(() => {});
    }
  }

  #send(destination: Destination, target: string, headers: RawHeaders, onAbort: OnAbort): Promise<Reply> {
    return destination.send({
      method: 'GET',
      target,
      headers: ['Host', destination.address, ...this.#identityHeaders, 'User-Agent', 'straddle', ...headers],
      body: null,
      lane: this.#lane,
      headTimeoutMs: 0,
      onAbort,
    });
  }
}

/**
 * Requests through this process's own routing, as Straddle's own user unless told otherwise: the local server, or a peer
 * while it is down.
 */
export function sendThrough(handler: () => Handler, nowMs: () => number, identity: EstablishedIdentity = OWN_IDENTITY) {
  return async (
    method: string,
    target: string,
    headers: RawHeaders,
    body: Uint8Array | null,
    onAbort: OnAbort,
  ): Promise<Reply> => {
    const exchange = new Exchange(
      {
        method,
        target,
        headers: ['Host', 'straddle', 'User-Agent', 'straddle', ...headers],
        body: null,
        connection: OWN_CONNECTION,
      },
      nowMs(),
    );
    exchange.info = parseRequestInfo(method, target) ?? exchange.info;
    exchange.identity = identity;
    if (body) exchange.gatheredBody = body;
    onAbort(() => exchange.abort());
    return handler()(exchange);
  };
}

export interface DirectAccess {
  readonly destination: Destination;
  /** Path below which the API lives, `''` or `/prefix`. */
  readonly basePath: string;
  readonly hasCertificate: boolean;
  readonly token: string | undefined;
  /** Read before each use: such tokens are rotated. */
  readonly tokenFile: string | undefined;
}

/** Requests with a kubeconfig's own credentials, to its own server. */
export function sendDirectly(access: DirectAccess) {
  return async (
    method: string,
    target: string,
    headers: RawHeaders,
    body: Uint8Array | null,
    onAbort: OnAbort,
  ): Promise<Reply> => {
    const token = access.tokenFile ? readFileSync(access.tokenFile, 'utf8').trim() : access.token;
    return access.destination.send({
      method,
      target: `${access.basePath}${target}`,
      headers: [
        ...['Host', access.destination.address, 'User-Agent', 'straddle', ...headers],
        ...(token ? ['Authorization', `Bearer ${token}`] : []),
      ],
      body,
      lane: access.hasCertificate ? 'front-proxy' : 'plain',
      headTimeoutMs: 0,
      onAbort,
    });
  };
}
