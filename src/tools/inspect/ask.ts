import type { IncomingHttpHeaders } from 'node:http';
import { hostPortOf } from '../../base/address.js';
import { rawPath } from '../../base/target.js';
import { describeSocketError, errorCode } from '../../http/socket-error.js';
import { isStraddleReply } from '../../proxy/identity/straddle-mark.js';
import { HttpsConnection } from '../https/https-connection.js';

/** The credentials to show to servers, and how to verify servers. Contents of files, not their names. */
export interface Credentials {
  /** PEM; undefined: the authorities that the machine trusts. */
  readonly ca: string | undefined;
  readonly clientCert: string | undefined;
  readonly clientKey: string | undefined;
  readonly token: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly etag: string | undefined;
  /** A health page of a Straddle, on a verified connection. */
  readonly isStraddle: boolean;
  /** The Date header: the clock of the server in whole seconds. */
  readonly dateMs: number | undefined;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

/** A server sent no reply. The message is a part of a sentence: `connection refused`. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = 'NoAnswer';
  }
}

export const ASK_TIMEOUT_MS = 8_000;
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const SOCKETS_MAX = 4;
/** Pages that each server is asked about itself. */
const ABOUT_SERVER: ReadonlySet<string> = new Set(['/version', '/readyz', '/statusz', '/flagz']);
/** The name by which servers verify their peers, so every valid serving certificate has it. */
export const PEER_SERVER_NAME = 'kubernetes.default.svc';

export interface AskerOptions {
  /** `https://10.0.0.1:6443`, without a slash at the end. */
  readonly url: string;
  readonly credentials: Credentials;
  /** Name that the certificate must have; default: the host of the URL or PEER_SERVER_NAME. */
  readonly serverName?: string | undefined;
  readonly nowMs: () => number;
  readonly timeoutMs?: number | undefined;
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Path and query. */
  readonly path: string;
  /** Default: JSON. */
  readonly accept?: string | undefined;
  readonly body?: object | undefined;
  /** Bound on the reply, below that of all replies. */
  readonly bytesMax?: number | undefined;
}

/** Returns how a server is verified, and the certificate that is shown to it. */
export function serverTls({ url, serverName, credentials }: Pick<AskerOptions, 'url' | 'serverName' | 'credentials'>) {
  return {
    ca: credentials.ca,
    cert: credentials.clientCert,
    key: credentials.clientKey,
    insecureSkipVerify: credentials.insecureSkipTlsVerify,
    servername: serverName ?? PEER_SERVER_NAME,
    // Peers verify one name and clients dial the other: either identifies the server.
    otherNames: serverName === undefined ? [hostPortOf(new URL(url)).host] : [],
  };
}

/** Sends requests to one server. Its certificate is verified before credentials are sent. */
export class Asker {
  readonly url: string;
  readonly #options: AskerOptions;
  readonly #connection: HttpsConnection;
  readonly #timeoutMs: number;

  constructor(options: AskerOptions) {
    const { url, timeoutMs = ASK_TIMEOUT_MS } = options;
    this.url = url;
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#connection = new HttpsConnection({
      url,
      tls: serverTls(options),
      socketsMax: SOCKETS_MAX,
      timeoutMs,
      bytesMax: BODY_BYTES_MAX,
    });
  }

  get(path: string, accept?: string): Promise<Answer> {
    return this.request({ method: 'GET', path, accept });
  }

  /** Rejects with NoAnswer; any status is an answer. */
  async request({ method, path, accept = 'application/json', body, bytesMax }: Question): Promise<Answer> {
    const { credentials, nowMs } = this.#options;
    const headers = {
      accept,
      ...(body ? { 'content-type': 'application/json' } : {}),
      // A Straddle may answer with the page of another server unless asked like this.
      ...(ABOUT_SERVER.has(rawPath(path)) ? { 'x-kubernetes-peer-proxied': 'true' } : {}),
      ...(credentials.token ? { authorization: `Bearer ${credentials.token}` } : {}),
    };
    const askedAtMs = nowMs();
    let answeredAtMs = askedAtMs;
    const onHead = () => {
      answeredAtMs = nowMs();
    };
    try {
      const sent = { method, target: path, headers, body: body && JSON.stringify(body), bytesMax };
      const reply = await this.#connection.request(sent, onHead);
      const { status, text } = reply;
      const { etag } = reply.headers;
      const isStraddle = isStraddleReply(reply.headers);
      return { status, text, etag, isStraddle, dateMs: dateOf(reply.headers), askedAtMs, answeredAtMs };
    } catch (error) {
      throw noAnswer(error as Error, this.#timeoutMs);
    }
  }

  close(): void {
    this.#connection.close();
  }
}

/** Returns the clock of the server in whole seconds, if the reply has a Date header. */
function dateOf({ date }: IncomingHttpHeaders): number | undefined {
  const dateMs = Date.parse(date ?? '');
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

/** Returns the error of a request without a reply, in words for a report. */
export function noAnswer(error: NodeJS.ErrnoException, timeoutMs: number): NoAnswer {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new NoAnswer(`timeout: no reply within ${timeoutMs / 1_000} s`, 'ETIMEDOUT');
  }
  return new NoAnswer(describeSocketError(error), errorCode(error));
}
