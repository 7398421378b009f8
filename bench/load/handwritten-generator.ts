/** Load generator if h2load or wrk is not installed: a separate process with messages over IPC. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import type { Order } from './order.js';

export type Protocol = 'h2' | 'http/1.1';

export type GeneratorOrder = Order & { readonly protocol: Protocol };

export interface GeneratorAnswer {
  readonly seconds: number;
  readonly meanMs: number;
  readonly right: number;
  readonly bytes: number;
  readonly told: string;
}

interface Answer {
  readonly status: number;
  readonly bytes: number;
  /** How the body begins, where the status is not the one expected. */
  readonly told: string;
}

/** Asked one request after another: a stream's turn on an HTTP/2 connection, or an HTTP/1.1 connection. */
interface Lane {
  ask(): Promise<Answer>;
  close(): void;
}

const TOLD_BYTES_MAX = 300;

async function run(order: GeneratorOrder): Promise<GeneratorAnswer> {
  const body = order.bodyFile === undefined ? undefined : readFileSync(order.bodyFile);
  const lanes = order.protocol === 'h2' ? http2Lanes(order, body) : http1Lanes(order, body);
  let begun = 0;
  let right = 0;
  let bytes = 0;
  let spentMs = 0;
  let told = '';
  const work = async (lane: Lane): Promise<void> => {
    while (begun < order.requests) {
      begun++;
      const askedMs = performance.now();
      const answer = await lane.ask();
      spentMs += performance.now() - askedMs;
      bytes += answer.bytes;
      if (answer.status === order.expected.status) right++;
      else told ||= `${answer.status} ${answer.told}`;
    }
  };
  const begunMs = performance.now();
  await Promise.all(lanes.map(work));
  const seconds = (performance.now() - begunMs) / 1000;
  for (const lane of lanes) lane.close();
  return { seconds, meanMs: spentMs / order.requests, right, bytes, told };
}

function http2Lanes(order: GeneratorOrder, body: Buffer | undefined): Lane[] {
  return Array.from({ length: order.connections }, () => {
    const session = connect(order.url, { ca: readFileSync(order.caFile), settings: { enablePush: false } });
    // A waiting request fails by the error of its stream.
    session.on('error', () => {});
    return Array.from({ length: order.streams }, () => ({
      ask: () => askStream(session, order, body),
      close: () => session.close(),
    }));
  }).flat();
}

function askStream(session: ClientHttp2Session, order: GeneratorOrder, body: Buffer | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ...order.headers, ':path': order.path, ':method': body === undefined ? 'GET' : 'POST' },
      { endStream: body === undefined },
    );
    let status = 0;
    let bytes = 0;
    let told = '';
    stream.once('response', (head) => {
      status = head[':status'] ?? 0;
    });
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (status !== order.expected.status) told ||= chunk.subarray(0, TOLD_BYTES_MAX).toString();
    });
    stream.once('error', reject);
    stream.once('end', () => resolve({ status, bytes, told }));
    if (body !== undefined) stream.end(body);
  });
}

/** As many requests at once as over HTTP/2, each on a connection of its own. */
function http1Lanes(order: GeneratorOrder, body: Buffer | undefined): Lane[] {
  const method = body === undefined ? 'GET' : 'POST';
  return Array.from({ length: order.connections * order.streams }, () => {
    const client = new Client(order.url, { allowH2: false, connect: { ca: readFileSync(order.caFile) } });
    return {
      async ask() {
        const answer = await client.request({ method, path: order.path, headers: order.headers, body: body ?? null });
        const whole = Buffer.from(await answer.body.arrayBuffer());
        const status = answer.statusCode;
        return { status, bytes: whole.length, told: whole.subarray(0, TOLD_BYTES_MAX).toString() };
      },
      close: () => void client.close(),
    };
  });
}

process.once('message', (order: GeneratorOrder) => {
  run(order).then(
    (answer) => process.send!(answer, () => process.exit(0)),
    (error: Error) =>
      process.send!({ seconds: 1, meanMs: 0, right: 0, bytes: 0, told: error.message }, () => process.exit(1)),
  );
});
