import { request } from 'node:https';
import type { KubeconfigAccess, PemSource } from '../compose/config/kubeconfig.js';

/** An answer of the API server, already read: these are small objects. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The server's own clock, where it told it. */
  readonly serverTimeMs: number | undefined;
}

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: object;
  /** Some form of JSON. */
  readonly accept?: string;
}

const TIMEOUT_MS = 15_000;
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** One JSON request with the rights of a kubeconfig. Rejects if there is no answer, or one that is not JSON. */
export function kubeRequest(
  access: KubeconfigAccess,
  readFile: (path: string) => string,
  { method, path, body, accept = 'application/json' }: KubeRequest,
): Promise<KubeAnswer> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const token = access.token ?? (access.tokenFile === undefined ? undefined : readFile(access.tokenFile).trim());
  const pem = (source: PemSource | undefined) =>
    source === undefined ? undefined : 'pem' in source ? source.pem : readFile(source.file);
  return new Promise((resolve, reject) => {
    const outgoing = request(access.server + path, {
      method,
      agent: false,
      headers: {
        accept,
        ...(payload ? { 'content-type': 'application/json', 'content-length': payload.length } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      ca: pem(access.ca),
      cert: pem(access.clientCert),
      key: pem(access.clientKey),
      rejectUnauthorized: !access.insecureSkipTlsVerify,
      ...(access.serverName ? { servername: access.serverName } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    outgoing.on('error', (error) => {
      const why = error.name === 'AbortError' ? `no answer within ${TIMEOUT_MS / 1_000} s` : error.message;
      reject(new Error(`${access.server} cannot be reached: ${why}.`));
    });
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > BODY_BYTES_MAX)
          response.destroy(new Error(`${access.server} sent more than ${BODY_BYTES_MAX} bytes.`));
        else chunks.push(chunk);
      });
      response.on('end', () => {
        const dateMs = Date.parse(response.headers.date ?? '');
        try {
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
            serverTimeMs: Number.isNaN(dateMs) ? undefined : dateMs,
          });
        } catch {
          reject(new Error(`${access.server} answered ${response.statusCode} without JSON: is it an API server?`));
        }
      });
    });
    outgoing.end(payload);
  });
}
