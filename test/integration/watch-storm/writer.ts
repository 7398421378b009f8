/** Makes objects and then changes them at a steady rate, over connections that are kept. Tells what was acknowledged. */
import { Pool } from 'undici';
import { type Access, COLLECTION } from './access.js';
import { childSide, cpuMs } from './child-program.js';
import { Latencies } from './latencies.js';

export interface WriterTask {
  readonly access: Access;
  readonly objects: number;
  readonly ratePerSecond: number;
  readonly forMs: number;
}

/** One acknowledged write. The reply to a deletion has no revision. */
export interface Acknowledged {
  readonly name: string;
  readonly revision: number | undefined;
}

const IN_FLIGHT_MAX = 64;
const TICK_MS = 4;
/** One change in so many deletes; the object's next change makes it anew. */
const DELETE_EVERY = 20;

const { task, say } = childSide<WriterTask>((order) => (order === 'fill' ? fill() : storm()));
const { access, objects, ratePerSecond, forMs } = task;
const pool = new Pool(access.url, {
  connections: IN_FLIGHT_MAX,
  pipelining: 1,
  connect: { ca: access.caPem, cert: access.certPem, key: access.keyPem },
});
const acknowledged: Acknowledged[] = [];
const latencies = new Latencies();
/** `unknown`: there was no reply, so the change may have happened or not. */
const states: ('there' | 'gone' | 'unknown')[] = Array.from({ length: objects }, () => 'gone');
const busy = new Set<number>();
let failed = 0;
let serial = 0;

const nameOf = (index: number): string => `object-${String(index).padStart(5, '0')}`;

async function fill(): Promise<void> {
  const startedMs = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < objects) await write(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, lane));
  say({ acknowledged: acknowledged.splice(0), tookMs: performance.now() - startedMs, failed });
}

async function storm(): Promise<void> {
  const startedMs = performance.now();
  const inFlight = new Set<Promise<void>>();
  let due = 0;
  let sent = 0;
  let next = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = Math.min(forMs, performance.now() - startedMs);
      due = Math.floor((nowMs / 1000) * ratePerSecond);
      while (sent < due && inFlight.size < IN_FLIGHT_MAX) {
        sent++;
        next = (next + 1) % objects;
        if (busy.has(next)) continue;
        const running = write(next).finally(() => inFlight.delete(running));
        inFlight.add(running);
      }
      if (nowMs < forMs) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const tookMs = performance.now() - startedMs;
  await Promise.all(inFlight);
  say({ acknowledged: acknowledged.splice(0), tookMs, failed, latencies: latencies.counts, cpuMs: cpuMs() });
}

/** Whatever is right for the state that the object should be in. */
async function write(index: number): Promise<void> {
  const state = states[index]!;
  const name = nameOf(index);
  serial++;
  busy.add(index);
  const startedMs = performance.now();
  try {
    if (state === 'there' && serial % DELETE_EVERY === 0) await remove(index, name);
    else await put(index, name, state === 'gone' ? 'POST' : 'PUT');
    latencies.add(performance.now() - startedMs);
  } catch {
    states[index] = 'unknown';
    failed++;
  }
  busy.delete(index);
}

async function put(index: number, name: string, method: 'POST' | 'PUT'): Promise<void> {
  const path = method === 'POST' ? COLLECTION : `${COLLECTION}/${name}`;
  const data = { at: String(Date.now()), serial: String(serial), text: 'some words that take a little room' };
  const { status, text } = await send(method, path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
  // A write without a reply may have happened or not.
  if (status === 404 && states[index] === 'unknown') states[index] = 'gone';
  else if (status === 200 || status === 201) {
    const [, revision] = /"resourceVersion":"(\d+)"/.exec(text) ?? [];
    acknowledged.push({ name, revision: Number(revision) });
    states[index] = 'there';
  } else throw new Error(`${method} ${path}: ${status} ${text}`);
}

async function remove(index: number, name: string): Promise<void> {
  const { status, text } = await send('DELETE', `${COLLECTION}/${name}`);
  if (status !== 200) throw new Error(`DELETE ${name}: ${status} ${text}`);
  acknowledged.push({ name, revision: undefined });
  states[index] = 'gone';
}

async function send(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  const answer = await pool.request({
    method,
    path,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body ? JSON.stringify(body) : null,
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}
