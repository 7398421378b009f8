import { connect } from 'node:http2';
import type { Endpoint } from './http-client.js';

const TIMEOUT_MS = 20_000;
/** Node.js sends no larger encoded head than 64 KiB by itself. */
const SEND_BLOCK_BYTES = 1024 * 1024;

export interface Http2Call {
  readonly method?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: object;
}

/** One request over HTTP/2, answered whole. A status is an answer, never an error. */
export function callHttp2(
  { url, ca, clientCert, token }: Endpoint,
  path: string,
  { method = 'GET', headers = {}, body }: Http2Call = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const session = connect(url, {
    ca,
    maxSendHeaderBlockLength: SEND_BLOCK_BYTES,
    ...(clientCert && { cert: clientCert.certPem, key: clientCert.keyPem }),
  });
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    session.once('error', reject);
    const stream = session.request({
      ':method': method,
      ':path': path,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    });
    stream.setTimeout(TIMEOUT_MS, () => stream.destroy(new Error(`${path}: timeout over HTTP/2`)));
    let status = 0;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (head) => {
      status = head[':status'] ?? 0;
    });
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    stream.once('error', reject);
    stream.once('end', () => resolve({ status, text }));
    stream.end(body && JSON.stringify(body));
  }).finally(() => session.destroy());
}
