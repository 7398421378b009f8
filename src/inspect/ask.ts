import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** With what one is known to servers, and how servers are known. All of it already read. */
export interface Credentials {
  /** PEM; undefined: the machine's own trusted authorities. */
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
  /** The server's own clock, whole seconds, where it told it. */
  readonly dateMs: number | undefined;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

/** There was no answer. The message is a piece of a sentence: `connection refused`. */
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
/** What servers of one control plane call each other, so every good certificate has it. */
export const PEER_SERVER_NAME = 'kubernetes.default.svc';

export interface AskerOptions {
  /** `https://10.0.0.1:6443`, without a slash at the end. */
  readonly url: string;
  readonly credentials: Credentials;
  /** What the certificate must be for; default: the host of the URL, or the name that peers use. */
  readonly serverName?: string | undefined;
  readonly nowMs: () => number;
  readonly timeoutMs?: number;
}

/** GET requests to one server, on few connections. Credentials go only to a server that its certificate vouches for. */
export class Asker {
  readonly #options: AskerOptions;
  readonly #agent: Agent;

  constructor(options: AskerOptions) {
    this.#options = options;
    const { credentials, serverName, url } = options;
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    const name = serverName ?? PEER_SERVER_NAME;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: SOCKETS_MAX,
      ca: credentials.ca,
      cert: credentials.clientCert,
      key: credentials.clientKey,
      rejectUnauthorized: !credentials.insecureSkipTlsVerify,
      // Addresses are not allowed there.
      servername: isIP(name) === 0 ? name : '',
      checkServerIdentity: (_, certificate) => isFor(certificate, serverName ? [serverName] : [host, PEER_SERVER_NAME]),
    });
  }

  get url(): string {
    return this.#options.url;
  }

  /** Rejects with NoAnswer; any status is an answer. */
  get(path: string, accept = 'application/json'): Promise<Answer> {
    const { url, credentials, nowMs, timeoutMs = ASK_TIMEOUT_MS } = this.#options;
    const askedAtMs = nowMs();
    return new Promise((resolve, reject) => {
      const outgoing = request(url + path, {
        agent: this.#agent,
        headers: { accept, ...(credentials.token ? { authorization: `Bearer ${credentials.token}` } : {}) },
        signal: AbortSignal.timeout(timeoutMs),
      });
      const fail = (error: NodeJS.ErrnoException) => reject(noAnswer(error, timeoutMs));
      outgoing.on('error', fail);
      outgoing.on('response', (response) => {
        const answeredAtMs = nowMs();
        readText(response).then(
          (text) =>
            resolve({
              status: response.statusCode ?? 0,
              text,
              etag: response.headers.etag,
              dateMs: dateOf(response),
              askedAtMs,
              answeredAtMs,
            }),
          fail,
        );
      });
      outgoing.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Peers verify the one name, clients dial by the other: either makes it the server that was meant. */
function isFor(certificate: PeerCertificate, names: readonly string[]): Error | undefined {
  const refusals = names.map((name) => checkServerIdentity(name, certificate));
  return refusals.includes(undefined) ? undefined : refusals[0];
}

function dateOf(response: IncomingMessage): number | undefined {
  const dateMs = Date.parse(response.headers.date ?? '');
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`it sent more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'no route to it',
  ENETUNREACH: 'no route to its network',
  ENOTFOUND: 'its name is not known',
  ETIMEDOUT: 'no answer in time',
  EPROTO: 'it does not speak TLS as expected',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: `its certificate is for other names than its address and ${PEER_SERVER_NAME}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not of the given certificate authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not of the given certificate authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not of the given certificate authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is not of the given certificate authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not of the given certificate authority',
  CERT_SIGNATURE_FAILURE: 'its certificate is not of the given certificate authority',
};

export function noAnswer(error: NodeJS.ErrnoException, timeoutMs: number): NoAnswer {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new NoAnswer(`no answer within ${timeoutMs / 1_000} s`, 'ETIMEDOUT');
  }
  const code = error.code ?? '';
  return new NoAnswer(WORDS[code] ?? (/alert/.test(error.message) ? 'it refused TLS' : error.message), code);
}
