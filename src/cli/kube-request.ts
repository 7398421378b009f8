import { type KubeconfigAccess, tlsOfAccess } from '../compose/config/kubeconfig.js';
import { HttpsConnection, type HttpsReply } from '../tools/https/https-connection.js';
import { dateOf, noAnswer } from '../tools/inspect/ask.js';

/** An answer of the API server, already read: these are small objects. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The server's own clock, where the reply has it. */
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

/** One JSON request with the rights of a kubeconfig. Rejects if there is no reply, or one that is not JSON. */
export async function kubeRequest(
  access: KubeconfigAccess,
  readFile: (path: string) => string,
  { method, path, body, accept = 'application/json' }: KubeRequest,
): Promise<KubeAnswer> {
  const token = access.token ?? (access.tokenFile === undefined ? undefined : readFile(access.tokenFile).trim());
  const connection = new HttpsConnection({
    url: access.server,
    tls: tlsOfAccess(access, readFile),
    socketsMax: 1,
    timeoutMs: TIMEOUT_MS,
    bytesMax: BODY_BYTES_MAX,
  });
  const headers = {
    accept,
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  };
  try {
    const sent = { method, target: path, headers, body: body && JSON.stringify(body) };
    const reply = await connection.request(sent).catch((error: Error) => {
      throw new Error(`${access.server} cannot be reached: ${noAnswer(error, TIMEOUT_MS).message}.`);
    });
    return { status: reply.status, body: parsed(access.server, reply), serverTimeMs: dateOf(reply.headers) };
  } finally {
    connection.close();
  }
}

function parsed(server: string, { status, text }: HttpsReply): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${server} answered ${status} without JSON: is it an API server?`);
  }
}
