/** Many watches without a client library: each goes on from the last resourceVersion it has seen, whatever happens. */
import { Agent, request } from 'node:https';
import { type Access, Backoff, COLLECTION } from './access.js';
import { childSide, cpuMs } from './child-program.js';
import { EventRecord } from './event-record.js';
import { Latencies } from './latencies.js';

export interface RawWatchersTask {
  readonly access: Access;
  readonly count: number;
  readonly fromRevision: number;
  /** The first watcher reports all its events. */
  readonly keepsAll: boolean;
}

const { task, say } = childSide<RawWatchersTask>((order) => finishAt(Number(order)));
const { access, count, fromRevision } = task;
const agent = new Agent({ ca: access.caPem, cert: access.certPem, key: access.keyPem });
const latencies = new Latencies();
const records = Array.from(
  { length: count },
  (_, index) => new EventRecord({ fromRevision, latencies, keepsAll: task.keepsAll && index === 0 }),
);
let untilRevision = Number.POSITIVE_INFINITY;
let connected = 0;
let refused = 0;

for (const record of records) watch(record, new Backoff());

function watch(record: EventRecord, backoff: Backoff): void {
  const again = (): void => void setTimeout(() => watch(record, backoff), backoff.waitMs());
  const path = `${COLLECTION}?watch=true&allowWatchBookmarks=true&resourceVersion=${record.lastRevision}`;
  const outgoing = request(new URL(path, access.url), { agent }, (response) => {
    if (response.statusCode !== 200) {
      refused++;
      response.resume().once('close', again);
      return;
    }
    backoff.reset();
    if (++connected === count) say({ connected });
    let rest: Buffer | undefined;
    response.on('data', (chunk: Buffer) => {
      const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
      const read = readLines(bytes, record);
      rest = read === bytes.byteLength ? undefined : bytes.subarray(read);
      if (record.lastRevision >= untilRevision) reportWhenAllAreThere();
    });
    // Half a line at the end of a broken connection is dropped: the event is sent again.
    response.on('error', () => {});
    response.once('close', again);
  });
  outgoing.once('error', again);
  outgoing.end();
}

/** Returns how many bytes whole lines have taken. */
function readLines(bytes: Buffer, record: EventRecord): number {
  let from = 0;
  for (;;) {
    const end = bytes.indexOf(10, from);
    if (end < 0) return from;
    readLine(bytes.toString('latin1', from, end), record);
    from = end + 1;
  }
}

/** Thousands a second and watcher: picked out of the text instead of parsed. */
function readLine(line: string, record: EventRecord): void {
  const type = between(line, '{"type":"');
  if (type === 'BOOKMARK') return;
  if (type === 'ERROR') {
    say({ error: line });
    return;
  }
  const revision = Number(between(line, '"resourceVersion":"'));
  record.see({ type, name: between(line, '"metadata":{"name":"'), revision }, Number(between(line, '"at":"')));
}

function between(line: string, opening: string): string {
  const from = line.indexOf(opening);
  if (from < 0) return '';
  return line.slice(from + opening.length, line.indexOf('"', from + opening.length));
}

function finishAt(revision: number): void {
  untilRevision = revision;
  reportWhenAllAreThere();
}

function reportWhenAllAreThere(): void {
  if (records.some(({ lastRevision }) => lastRevision < untilRevision)) return;
  untilRevision = Number.POSITIVE_INFINITY;
  say({
    records: records.map((record) => record.report()),
    latencies: latencies.counts,
    cpuMs: cpuMs(),
    all: records[0]?.all,
    connections: connected,
    refused,
  });
}
