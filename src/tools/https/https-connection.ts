import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { hostPortOf } from '../../base/address.js';
import { type ConnectionTls, clientTlsOptions } from '../../http/tls/connection-tls.js';

export interface HttpsConnectionOptions {
  /** `https://10.0.0.1:6443`, without a slash at the end. */
  readonly url: string;
  readonly tls: ConnectionTls;
  readonly socketsMax: number;
  /** Timeout of a whole reply. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

export interface HttpsRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** In place of the bound of the connection, where a reply is expected to be smaller. */
  readonly bytesMax?: number | undefined;
}

export interface HttpsReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * The HTTPS client of the commands: requests to one server on few connections. It uses the client of
 * Node.js instead of the proxy's, so that a fault of the proxy cannot hide from the commands that
 * look for it.
 */
export class HttpsConnection {
  readonly url: string;
  readonly #options: HttpsConnectionOptions;
  readonly #agent: Agent;
  /** Requests without a complete reply, also those that wait for a connection. */
  readonly #unfinished = new Set<ClientRequest>();

  constructor(options: HttpsConnectionOptions) {
    this.url = options.url;
    this.#options = options;
    const tls = clientTlsOptions(hostPortOf(new URL(options.url)).host, options.tls);
    this.#agent = new Agent({ ...tls, keepAlive: true, maxSockets: options.socketsMax });
  }

  /**
   * Sends a request and reads the whole reply; any status is a reply. Rejects with the error of the socket, with a
   * TimeoutError (by name), or for a reply that is too large. `onHead` is called when the head of the reply arrives.
   */
  async request(outgoing: HttpsRequest, onHead: () => void = () => {}): Promise<HttpsReply> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      const reply = await this.open(outgoing, signal);
      onHead();
      return {
        status: reply.statusCode ?? 0,
        headers: reply.headers,
        text: await this.readText(reply, outgoing.bytesMax),
      };
    } catch (error) {
      throw signal.aborted ? this.timeoutError() : error;
    }
  }

  /** Resolves with the head of the reply. `signal` ends the request, and its reply until that has been read. */
  open({ method, target, headers, body }: HttpsRequest, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request(this.url + target, { agent: this.#agent, method, headers, signal });
      this.#unfinished.add(outgoing);
      outgoing.on('close', () => this.#unfinished.delete(outgoing));
      outgoing.on('error', reject);
      outgoing.on('response', resolve);
      outgoing.end(body);
    });
  }

  async readText(reply: IncomingMessage, bytesMax = this.#options.bytesMax): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new Error(`reply is larger than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  timeoutError(): Error {
    const error = new Error(`timeout: no reply from ${this.url} within ${this.#options.timeoutMs / 1_000} s`);
    error.name = 'TimeoutError';
    return error;
  }

  /** Ends every request and connection; calls that wait for a reply reject. */
  close(): void {
    for (const each of this.#unfinished) each.destroy(new Error('the client was closed'));
    this.#agent.destroy();
  }
}
