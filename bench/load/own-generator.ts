/** HTTP/2 load where h2load is not installed: a process of its own, told by and answers on IPC. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { performance } from 'node:perf_hooks';
import type { Order } from './order.js';

export interface OwnAnswer {
  readonly seconds: number;
  readonly meanMs: number;
  readonly right: number;
  readonly bytes: number;
  readonly told: string;
}

interface Counted {
  begun: number;
  right: number;
  bytes: number;
  spentMs: number;
  firstWrong: string;
}

async function run(order: Order): Promise<OwnAnswer> {
  const sessions = Array.from({ length: order.connections }, () =>
    connect(order.url, { ca: readFileSync(order.caFile), settings: { enablePush: false } }),
  );
  const body = order.bodyFile === undefined ? undefined : readFileSync(order.bodyFile);
  const counted: Counted = { begun: 0, right: 0, bytes: 0, spentMs: 0, firstWrong: '' };
  const lane = async (session: ClientHttp2Session): Promise<void> => {
    while (counted.begun < order.requests) {
      counted.begun++;
      await ask(session, order, body, counted);
    }
  };
  const begunMs = performance.now();
  await Promise.all(sessions.flatMap((session) => Array.from({ length: order.streams }, () => lane(session))));
  const seconds = (performance.now() - begunMs) / 1000;
  for (const session of sessions) session.close();
  const { right, bytes, firstWrong } = counted;
  return { seconds, meanMs: counted.spentMs / order.requests, right, bytes, told: firstWrong };
}

function ask(session: ClientHttp2Session, order: Order, body: Buffer | undefined, counted: Counted): Promise<void> {
  const headers: OutgoingHttpHeaders = {
    ...order.headers,
    ':path': order.path,
    ':method': body === undefined ? 'GET' : 'POST',
  };
  return new Promise((resolve, reject) => {
    const begunMs = performance.now();
    const stream = session.request(headers, { endStream: body === undefined });
    let status = 0;
    stream.once('response', (head) => {
      status = head[':status'] ?? 0;
    });
    stream.on('data', (chunk: Buffer) => {
      counted.bytes += chunk.length;
      if (status !== order.expected.status && counted.firstWrong === '') {
        counted.firstWrong = `${status} ${chunk.subarray(0, 300).toString()}`;
      }
    });
    stream.once('error', reject);
    stream.once('end', () => {
      counted.spentMs += performance.now() - begunMs;
      if (status === order.expected.status) counted.right++;
      resolve();
    });
    if (body !== undefined) stream.end(body);
  });
}

process.once('message', (order: Order) => {
  run(order).then(
    (answer) => process.send!(answer, () => process.exit(0)),
    (error: Error) =>
      process.send!({ seconds: 1, meanMs: 0, right: 0, bytes: 0, told: error.message }, () => process.exit(1)),
  );
});
