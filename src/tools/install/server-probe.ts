import { formatHostPort, type HostPort } from '../../base/address.js';
import { printableLine } from '../../base/printable.js';
import { describeSocketError, errorCode } from '../../http/socket-error.js';
import { isStraddleReply } from '../../proxy/identity/straddle-mark.js';
import { HttpsConnection } from '../https/https-connection.js';

/** The name that every serving certificate of a control plane has. */
const SERVER_NAME = 'kubernetes.default.svc';
const STRADDLE_USER = 'system:straddle';
const TIMEOUT_MS = 5_000;
const BODY_BYTES_MAX = 1 << 20;
const SOCKETS_MAX = 1;
const PROBLEM_CHARACTERS_MAX = 200;

/** How to verify the servers, and Straddle's own identity: the front-proxy certificate speaks for its user. PEM. */
export interface ProbeCredentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly userHeader: string;
}

export type ServerAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly isStraddle: boolean;
      /** The first failed check of a health page, as it stands there. */
      readonly problem?: string | undefined;
    }
  /** Nobody listens there. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failure'; readonly why: string };

/**
 * Sends one GET as Straddle's own user, over verified TLS; never rejects. It is about this server alone: a Straddle is also ready
 * while only its peers take requests.
 */
export async function askAsStraddle(
  address: HostPort,
  target: string,
  credentials: ProbeCredentials,
): Promise<ServerAnswer> {
  const connection = new HttpsConnection({
    url: `https://${formatHostPort(address)}`,
    tls: { ca: credentials.ca, cert: credentials.cert, key: credentials.key, servername: SERVER_NAME },
    socketsMax: SOCKETS_MAX,
    timeoutMs: TIMEOUT_MS,
    bytesMax: BODY_BYTES_MAX,
  });
  const headers = {
    accept: 'application/json',
    'x-kubernetes-peer-proxied': 'true',
    [credentials.userHeader]: STRADDLE_USER,
  };
  try {
    const { status, headers: reply, text } = await connection.request({ method: 'GET', target, headers });
    return { kind: 'answer', status, isStraddle: isStraddleReply(reply), ...problemIn(status, text) };
  } catch (error) {
    if (errorCode(error) === 'ECONNREFUSED') return { kind: 'refused' };
    return { kind: 'failure', why: describeSocketError(error as Error) };
  } finally {
    connection.close();
  }
}

function problemIn(status: number, page: string): { readonly problem?: string } {
  const line = status === 200 ? undefined : /^\[-\].*$/m.exec(page)?.[0];
  return line === undefined ? {} : { problem: printableLine(line).slice(0, PROBLEM_CHARACTERS_MAX) };
}

/** Returns an answer as a part of a sentence. */
export function answerText(answer: ServerAnswer): string {
  if (answer.kind === 'refused') return 'connection refused';
  if (answer.kind === 'failure') return answer.why;
  const who = answer.isStraddle ? 'Straddle' : 'kube-apiserver';
  if (answer.status === 200) return `${who} is ready`;
  return `${who} answers ${answer.status}${answer.problem === undefined ? '' : ` (${answer.problem})`}`;
}
