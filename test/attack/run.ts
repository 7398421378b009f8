import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measured, measure } from './good-client.js';
import { bodilessPosts, connectionFlood, http1Connection, http2Session } from './hostile-clients.js';
import { CONFIG_MAPS, embeddedWorld, fill, proxyWorld, type World } from './worlds.js';

/** Attacks the built program and measures the effect on other clients; `--seconds=120` for longer runs, names for some. */
const seconds = Number(process.argv.find((each) => each.startsWith('--seconds='))?.slice(10) ?? 20);

const P99_MS_MAX = 500;
const CLOSED_WITHIN_MS = 60_000;
const MEGABYTE = 1024 * 1024;
const MEMORY_SECONDS = 20;
const FLOOD_SECONDS = 20;

let passed = 0;
let failed = 0;

function judge(what: string, holds: boolean, found: string): void {
  if (holds) passed += 1;
  else failed += 1;
  console.log(`${holds ? 'holds    ' : 'NOT HELD '} ${what}: ${found}`);
}

function described({ requests, failed: faults, p99Ms, maxMs }: Measured): string {
  const why = faults.length === 0 ? '' : ` (${[...new Set(faults)].join(', ')})`;
  return `${requests} requests, ${faults.length} failed${why}, P99 ${p99Ms.toFixed(0)} ms, longest ${maxMs.toFixed(0)} ms`;
}

function judgeMeasured(what: string, found: Measured): void {
  judge(what, found.failed.length === 0 && found.p99Ms < P99_MS_MAX, described(found));
}

async function inWorld<Made extends World>(make: Promise<Made>, attack: (world: Made) => Promise<void>): Promise<void> {
  const world = await make;
  try {
    await attack(world);
    if (!world.program.isAlive) judge('the program runs on', false, 'it ended');
  } finally {
    await world.close();
  }
}

let names = 0;
const newConfigMap = () => JSON.stringify({ metadata: { name: `good-${names++}` }, data: {} });

async function goodUserUnderBodilessPosts(what: string, world: World): Promise<void> {
  const as = world.certificates.user('admin', 'system:masters');
  const flood = bodilessPosts(world.target, CONFIG_MAPS);
  await sleep(1_000);
  const path = () => CONFIG_MAPS;
  const [reads, writes] = await Promise.all([
    measure(world.target, { path, as, expected: 200 }, seconds),
    measure(world.target, { path, as, expected: 201, method: 'POST', body: newConfigMap }, seconds),
  ]);
  flood.stop();
  judgeMeasured(`${what}: reads of a certificate user among ${flood.begun} POSTs without bodies`, reads);
  judgeMeasured(`${what}: writes of a certificate user`, writes);
}

/** The largest resident memory in some time, sampled. */
async function peakBytes(world: World, forMs: number): Promise<number> {
  let peak = 0;
  for (let waitedMs = 0; waitedMs < forMs; waitedMs += 100) {
    peak = Math.max(peak, world.program.residentBytes());
    await sleep(100);
  }
  return peak;
}

function judgeMemory(what: string, idleBytes: number, peak: number): void {
  const inMegabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;
  judge(what, peak < 2 * idleBytes, `idle ${inMegabytes(idleBytes)}, at most ${inMegabytes(peak)}`);
}

async function idleBytes(world: World): Promise<number> {
  const as = world.certificates.user('admin', 'system:masters');
  for (let i = 0; i < 3; i++) await measure(world.target, { path: () => CONFIG_MAPS, as, expected: 200 }, 0.1);
  await sleep(2_000);
  return world.program.residentBytes();
}

async function unreadLists(what: string, world: World): Promise<void> {
  const as = world.certificates.user('admin', 'system:masters');
  const idle = await idleBytes(world);
  const session = http2Session(world.target, { as, windowBytes: 0 });
  await once(session, 'connect');
  for (let i = 0; i < 50; i++)
    session
      .request({ ':path': CONFIG_MAPS })
      .on('error', () => {})
      .end();
  judgeMemory(`${what}: 50 lists of 20 MB, HTTP/2 window 0`, idle, await peakBytes(world, MEMORY_SECONDS * 1000));
  session.destroy();
  const socket = await http1Connection(world.target, { as });
  socket.pause();
  const list = `GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\n\r\n`;
  socket.write(`GET ${CONFIG_MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n${list.repeat(110)}`);
  judgeMemory(`${what}: a watch and 110 pipelined lists`, idle, await peakBytes(world, MEMORY_SECONDS * 1000));
  socket.destroy();
}

async function closedAfterMs(socket: { once(event: 'close', listener: () => void): unknown }, untilMs: number) {
  const begunAtMs = performance.now();
  await Promise.race([new Promise<void>((resolve) => socket.once('close', () => resolve())), sleep(untilMs)]);
  return performance.now() - begunAtMs;
}

async function stallingConnections(what: string, world: World): Promise<void> {
  const { target } = world;
  const dribbling = await http1Connection(target);
  dribbling.resume();
  dribbling.write(`POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`);
  const drip = setInterval(() => dribbling.write('x'), 20_000);
  const as = world.certificates.user('admin', 'system:masters');
  const pipelining = await http1Connection(target, { as });
  pipelining.pause();
  pipelining.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(30));
  const windowless = http2Session(target, { windowBytes: 0 });
  await once(windowless, 'connect');
  windowless
    .request({ ':path': '/livez' })
    .on('error', () => {})
    .end();
  const limitMs = CLOSED_WITHIN_MS + 5_000;
  // A socket that is not read from hears of its end only when it writes; servers skip empty lines before a request.
  const touch = setInterval(() => pipelining.write('\r\n'), 1_000);
  const took = await Promise.all([dribbling, pipelining, windowless].map((each) => closedAfterMs(each, limitMs)));
  clearInterval(drip);
  clearInterval(touch);
  ['a body of one byte in 20 s', 'pipelined replies that nobody reads', 'HTTP/2 window 0 with one GET'].forEach(
    (kind, i) => {
      judge(`${what}: ${kind}`, took[i]! < CLOSED_WITHIN_MS, `closed after ${(took[i]! / 1000).toFixed(1)} s`);
    },
  );
  for (const each of [dribbling, pipelining, windowless]) each.destroy();
}

async function oneAddressTakesAll(what: string, world: World): Promise<void> {
  const as = world.certificates.user('admin', 'system:masters');
  const flood = connectionFlood(world.target, 400);
  await sleep(2_000);
  const path = () => CONFIG_MAPS;
  const [elsewhere, same] = await Promise.all([
    measure(world.target, { path, as, expected: 200, localAddress: '127.0.0.2' }, FLOOD_SECONDS),
    measure(world.target, { path, as, expected: 200 }, FLOOD_SECONDS),
  ]);
  flood.stop();
  const by = `${flood.begun} connections of one address, --max-connections=200`;
  judge(`${what}: a certificate user elsewhere among ${by}`, elsewhere.failed.length === 0, described(elsewhere));
  judge(`${what}: a certificate user at the same address`, same.failed.length === 0, described(same));
}

const ATTACKS: ReadonlyMap<string, () => Promise<void>> = new Map([
  [
    'places',
    async () => {
      await inWorld(proxyWorld(), async (world) => {
        await goodUserUnderBodilessPosts('proxy', world);
        const gone = world.observer.log.filter(({ msg }) => /gone/.test(msg));
        judge(
          'proxy: no peer is declared gone',
          gone.length === 0,
          gone.map(({ msg }) => msg).join('; ') || 'none was',
        );
      });
      await inWorld(embeddedWorld(), (world) => goodUserUnderBodilessPosts('apiserver', world));
    },
  ],
  [
    'memory',
    () =>
      inWorld(embeddedWorld(), async (world) => {
        await fill(world, 20, MEGABYTE - 1024);
        await unreadLists('apiserver', world);
      }),
  ],
  [
    'stalls',
    async () => {
      for (const [what, make] of [
        ['proxy', proxyWorld],
        ['apiserver', embeddedWorld],
      ] as const) {
        await inWorld(make(), async (world) => {
          await fill(world, 20, MEGABYTE - 1024);
          await stallingConnections(what, world);
        });
      }
    },
  ],
  [
    'connections',
    async () => {
      const flags = { 'max-connections': '200' };
      await inWorld(proxyWorld(flags), (world) => oneAddressTakesAll('proxy', world));
      await inWorld(embeddedWorld(flags), (world) => oneAddressTakesAll('apiserver', world));
    },
  ],
]);

const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const unknown = chosen.filter((name) => !ATTACKS.has(name));
if (unknown.length > 0) {
  console.error(`unknown attack: ${unknown.join(', ')}; there are ${[...ATTACKS.keys()].join(', ')}`);
  process.exit(2);
}
for (const [name, attack] of ATTACKS) if (chosen.length === 0 || chosen.includes(name)) await attack();

console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
