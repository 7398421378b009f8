import assert from 'node:assert/strict';
import { INFORMER_VERSIONS, INFORMERS } from '../rig/binaries.js';
import { type ControlPlane, layoutOf, type Server } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import { Informer, type InformerLine, type InformerOptions, JSON_TYPE, PROTOBUF_TYPE } from '../rig/informer.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { outcomesSince, watchContinuations } from './watches/continuations.js';
import { JobWriter, job, jobsIn, type WrittenEvent } from './watches/job-writer.js';

const INITIAL_JOBS = ['initial-0', 'initial-1', 'initial-2', 'initial-3', 'initial-4'];
/** Writes that have to be seen before and after a server is killed under load. */
const WRITES = 40;
/** How client-go logs that a watch broke. */
const WATCH_ENDED = 'watch ended with error';
const PATIENCE = { timeoutMs: 45_000 };

export const clientGoInformers: Scenario = {
  number: 43,
  name: 'client-go informers of Jobs through A (JSON, protobuf), kill -9 of B, then of C: one watch request, every event once',
  timeoutMs: 300_000,
  programs: () => INFORMERS,
  async run(context) {
    const { plane } = context;
    await plane.arrange(layoutOf('batch'));
    const namespace = await context.namespace();
    const straight = await call(plane.a.kube.admin, jobsIn(namespace));
    assert.equal(straight.status, 404, 'A itself must not serve jobs');
    for (const name of INITIAL_JOBS) {
      const created = await call(plane.a.straddle.admin, jobsIn(namespace), { method: 'POST', body: job(name) });
      assert.equal(created.status, 201, created.text);
    }
    const continuationsBefore = await watchContinuations(plane.a.straddle.admin);
    const informers = startInformers(context, namespace);
    const controls = startControls(context, namespace);
    await Promise.all([...informers, ...controls].map((informer) => informer.synced()));

    const movedFromB = await withoutEvents(plane, informers);
    const writer = new JobWriter(plane.a.straddle.admin, namespace);
    context.defer(() => writer.stop().catch(() => {}));
    await underLoad(plane, informers, writer);
    const written = await writer.stop();

    for (const informer of informers) await sawEverythingOnce(informer, written);
    for (const control of controls) sawItsWatchEnd(control);
    const outcomes = outcomesSince(continuationsBefore, await watchContinuations(plane.a.straddle.admin));
    assert.deepEqual(Object.keys(outcomes), ['continued'], 'a watch was not continued');
    // The audit log of a killed server may lack a watch of its last moment, so this is a lower bound.
    assert.ok((outcomes['continued'] ?? 0) >= movedFromB + informers.length, JSON.stringify(outcomes));
  },
};

function startInformers(context: ScenarioContext, namespace: string): Informer[] {
  const kinds = INFORMER_VERSIONS.flatMap((version) =>
    ([JSON_TYPE, PROTOBUF_TYPE] as const).flatMap((contentType) =>
      [false, true].map((http1) => ({ version, contentType, http1 }) as const),
    ),
  );
  return kinds.map((kind) => start(context, namespace, kind));
}

/** The same informers, but their watches are not continued: the checks must be able to find the end of a watch. */
function startControls(context: ScenarioContext, namespace: string): Informer[] {
  return INFORMER_VERSIONS.map((version) =>
    start(context, namespace, { version, contentType: PROTOBUF_TYPE, uncontinued: true }),
  );
}

type InformerKind = Pick<InformerOptions, 'version' | 'contentType' | 'http1' | 'uncontinued'>;

function start({ plane, defer }: ScenarioContext, namespace: string, kind: InformerKind): Informer {
  const { dir, kubeconfig } = plane;
  const informer = new Informer({ dir, kubeconfig, context: 'straddle-a', namespace, ...kind });
  defer(() => informer.process.stop());
  return informer;
}

/** B is killed before any change: the watches continue from the bookmark after the initial events. Resolves to how many moved. */
async function withoutEvents({ b, c }: ControlPlane, informers: readonly Informer[]): Promise<number> {
  const atB = informers.filter((informer) => watchesOf(informer, b).length > 0);
  const atC = informers.filter((informer) => watchesOf(informer, c).length > 0);
  assert.equal(atB.length + atC.length, informers.length, 'each watch is served by one peer');
  assert.ok(atB.length > 0, 'no watch came from B');
  await killed(b, c, atB);
  return atB.length;
}

/** B comes back, and C is killed between writes: all watches move to B. */
async function underLoad({ b, c }: ControlPlane, informers: readonly Informer[], writer: JobWriter): Promise<void> {
  await b.kube.start(b.kube.settings ?? assert.fail());
  await eventually('B has Jobs in its watch cache', async () => {
    const answer = await call(b.kube.admin, '/apis/batch/v1/jobs?resourceVersion=0&limit=1');
    return answer.status === 200;
  });
  // B's watch cache has nothing older than its own start: a watch that has got nothing since would be answered with 410.
  await moreWrites(informers, writer);
  await killed(c, b, informers);
  await moreWrites(informers, writer);
  await c.kube.start(c.kube.settings ?? assert.fail());
}

async function moreWrites(informers: readonly Informer[], writer: JobWriter): Promise<void> {
  const wanted = writer.written.length + WRITES;
  await eventually(`${WRITES} more writes`, () => writer.written.length >= wanted, PATIENCE);
  for (const informer of informers) {
    await eventually(`${informer.name} got them`, () => changesOf(informer).length >= wanted, PATIENCE);
  }
}

/** Kills a kube-apiserver and waits until the other one serves these watches. */
async function killed(from: Server, to: Server, informers: readonly Informer[]): Promise<void> {
  const position = to.kube.auditPosition();
  await from.kube.kill();
  for (const informer of informers) {
    await eventually(
      `the watch of ${informer.name} goes on at ${to.name} (its log: ${informer.process.options.logFile})`,
      () => watchesOf(informer, to, position).length > 0,
      PATIENCE,
    );
  }
}

/** The URIs of the watches of an informer in the audit log of a server. */
function watchesOf(informer: Informer, { kube }: Server, position = 0): string[] {
  const events = kube.auditSince(position);
  return events
    .filter(({ verb, userAgent }) => verb === 'watch' && userAgent === informer.name)
    .map((each) => each.requestURI);
}

async function sawEverythingOnce(informer: Informer, written: readonly WrittenEvent[]): Promise<void> {
  const { name, options } = informer;
  await eventually(`${name} got all events`, () => changesOf(informer).length >= written.length, PATIENCE);
  const requests = informer.of('request');
  assert.deepEqual(
    requests.map(({ verb }) => verb),
    ['watch'],
    `${name} must send one watch and no list`,
  );
  const query = new URLSearchParams(requests[0]?.query);
  assert.equal(query.get('sendInitialEvents'), 'true', name);
  assert.equal(query.get('allowWatchBookmarks'), 'true', name);
  const [answer] = informer.of('answer');
  assert.equal(answer?.status, 200, name);
  assert.equal(answer?.protocol, options.http1 ? 'HTTP/1.1' : 'HTTP/2.0', name);
  assert.equal(answer?.contentType?.split(';')[0], options.contentType, name);

  assert.deepEqual(informer.of('error'), [], name);
  assert.deepEqual(informer.logLines().filter(tellsOfTrouble), [], name);
  eventsInOrder(informer, written);
  const expected = written.map(({ type, name }) => `${type} ${name}`);
  assert.deepEqual(changesOf(informer).map(typeAndName), expected, `what ${name} reported to its handlers`);
}

function sawItsWatchEnd(control: Informer): void {
  assert.ok(control.of('request').length > 1, `${control.name} sent one request although its watch was not continued`);
  const ends = control.logLines().filter((line) => line.includes(WATCH_ENDED));
  assert.notDeepEqual(ends, [], `${control.name} did not log '${WATCH_ENDED}'`);
  assert.ok(ends.every(tellsOfTrouble), ends.join('\n'));
}

/** Initial events, their bookmark, then each write once, in the order and with the resourceVersions of the writes. */
function eventsInOrder(informer: Informer, written: readonly WrittenEvent[]): void {
  const events = informer.of('watch-event');
  const end = events.findIndex(({ initialEventsEnd }) => initialEventsEnd === true);
  const initial = events.slice(0, end).map(typeAndName).sort();
  assert.deepEqual(initial, INITIAL_JOBS.map((job) => `ADDED ${job}`).sort(), informer.name);
  const after = events.slice(end + 1);
  const changes = after.filter(({ type }) => type !== 'BOOKMARK');
  assert.deepEqual(changes.map(typeAndName), written.map(typeAndName), `the events of ${informer.name}`);
  for (const [index, { resourceVersion, name }] of written.entries()) {
    if (resourceVersion !== undefined) assert.equal(changes[index]?.resourceVersion, resourceVersion, name);
  }
  const versions = after.map(({ resourceVersion }) => Number(resourceVersion));
  assert.ok(
    versions.every((version, index) => index === 0 || version >= (versions[index - 1] ?? 0)),
    `${informer.name}: resourceVersions go back: ${versions.join(' ')}`,
  );
}

function changesOf(informer: Informer): InformerLine[] {
  return informer.of('change').filter(({ name }) => !INITIAL_JOBS.includes(name ?? ''));
}

function typeAndName({ type, name }: { readonly type?: string; readonly name?: string }): string {
  return `${type} ${name}`;
}

/** A warning or an error, or one of client-go's words for a watch that did not go on. */
function tellsOfTrouble(line: string): boolean {
  return /^[WEF]\d{4} |watch ended|watch closed|watch-list failed|backing off/i.test(line);
}
