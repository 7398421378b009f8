import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle, until } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { PooledDestination } from '../../http/client/pooled-destination.js';
import type { Reply } from '../../http/exchange.js';
import { serveTcp, serveTls, type TlsServer, textOf, tls } from '../../http/tls/tls-server.fixture.js';
import { createOutgoingHeaders } from '../identity/outgoing-headers.js';
import { DepartedMemory } from '../peers/departed-memory.js';
import { PlayedServer } from '../peers/fake-server.fixture.js';
import { createPeerDirectory, type RunningPeerDirectory } from '../peers/peer-directory.js';
import type { PeerSource } from '../peers/peer-source.js';
import { Alternatives } from './alternatives.js';
import { createPeerDispatch } from './peer-dispatch.js';
import { Rerouter } from './reroute.js';
import { createRouter } from './router.js';
import { ask, surfaceOf } from './routing.fixture.js';

const JOBS = '/apis/batch/v2/jobs';
const SURFACE = { '/v1/pods': 'get list', 'batch/v2/jobs': 'get list watch' };
/** A surface is read every two seconds and given up after four. */
const FOUND_OUT_MS = 7_000;

let clock: ManualClock;
let closing: (() => Promise<unknown>)[];
let directory: RunningPeerDirectory;
let handler: ReturnType<typeof createRouter>;
/** Answers that frozen servers owe. */
let late: (() => void)[];
let localServes: boolean;
/** By address: how probes find the server. */
let played: Map<string, PlayedServer>;

beforeEach(() => {
  clock = new ManualClock();
  closing = [];
  late = [];
  localServes = false;
  played = new Map();
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

/** A server that accepts and reads requests and answers while it is up. */
async function server(): Promise<TlsServer & { readonly probed: PlayedServer }> {
  const probed = new PlayedServer(SURFACE);
  const real = await serveTls((_, response) => {
    if (probed.mode === 'up') response.end('{}');
    else late.push(() => response.end('{"late":true}'));
  });
  played.set(real.address, probed);
  closing.push(() => real.close());
  return { ...real, probed };
}

/** A router before a server without jobs, with these peers, all of which have been read. */
async function route(...addresses: string[]): Promise<void> {
  const source: PeerSource = {
    name: 'played',
    start: () => {},
    sightings: () =>
      addresses.map((address, i) => ({ source: 'lease', kind: 'kube-apiserver', hostname: `p${i}`, address })),
    answered: () => true,
    close: async () => {},
  };
  directory = createPeerDirectory({
    sources: [source],
    makeDestination: ({ address }) =>
      new PooledDestination({ address, tls, connectTimeoutMs: 60_000, keepAliveMs: 60_000 }),
    makeFetch: ({ address }) => played.get(address)!.fetch,
    clock,
    logger: silentLogger,
    selves: { names: [], addresses: [] },
    memory: await DepartedMemory.open({ clock, logger: silentLogger, graceMs: 60_000 }),
    random: () => 0.5,
  });
  directory.start();
  closing.push(() => directory.close());
  await settle();
  const common = { directory, clock, metrics: createMetrics(), logger: silentLogger };
  const alternatives = new Alternatives({ directory: () => directory, localServes: () => localServes });
  const dispatch = createPeerDispatch({
    outgoingHeaders: createOutgoingHeaders(),
    headTimeoutMs: 60_000,
    hasAlternative: (exchange, peer) => alternatives.toPeer(exchange, peer),
    limits: { heldMax: 10, queueMax: 10, waitMsMax: 1_000, clock },
  });
  handler = createRouter({
    ...common,
    host: {
      readsBodies: false,
      handle: () => Promise.reject(new Error('not served here')),
      ready: () => true,
    },
    localSurface: () => surfaceOf({ '/v1/pods': 'get list' }),
    refreshLocal: async () => {},
    rerouter: new Rerouter({ ...common, dispatch, attemptsMax: 4 }),
    rerouteUnknownOptions: true,
    mayContinue: () => true,
  });
}

const get = (): Promise<Reply> => handler(ask('GET', JOBS));

describe('a rerouted GET that meets a frozen server', () => {
  it('is sent to the next server from an open connection when a probe is not answered', async () => {
    const frozen = await server();
    const healthy = await server();
    await route(frozen.address, healthy.address);
    expect(await textOf(await get())).toBe('{}');
    frozen.probed.mode = 'hanging';
    const answer = get();
    await until(() => frozen.requests.length === 2, 'request at the frozen server');
    await clock.advance(FOUND_OUT_MS);
    expect(await answer).toMatchObject({ status: 200 });
    expect(healthy.requests).toHaveLength(1);
  });

  it('is sent to the next server from a TLS handshake when a probe is not answered', async () => {
    const frozen = await serveTcp(() => {});
    closing.push(() => frozen.close());
    played.set(frozen.address, new PlayedServer(SURFACE));
    const healthy = await server();
    await route(frozen.address, healthy.address);
    const answer = get();
    await until(() => frozen.connections.size === 1, 'connection to the frozen server');
    played.get(frozen.address)!.mode = 'hanging';
    await clock.advance(FOUND_OUT_MS);
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('is sent to a server that was departed when the request arrived and has returned', async () => {
    const frozen = await server();
    const back = await server();
    await route(frozen.address, back.address);
    back.probed.mode = 'refusing';
    await clock.advance(20_000);
    expect(directory.snapshot().departed.map(({ identity }) => identity)).toEqual(['p1']);
    frozen.probed.mode = 'hanging';
    const answer = get();
    await until(() => frozen.requests.length === 1, 'request at the frozen server');
    back.probed.mode = 'up';
    await clock.advance(FOUND_OUT_MS);
    expect(await answer).toMatchObject({ status: 200 });
    expect(back.requests).toHaveLength(1);
  });

  it('is sent to a server in cool-down that answers again', async () => {
    const frozen = await server();
    const cooling = await server();
    await route(frozen.address, cooling.address);
    frozen.probed.mode = 'hanging';
    const answer = get();
    await until(() => frozen.requests.length === 1, 'request at the frozen server');
    cooling.probed.mode = 'refusing';
    // Its failures so far make the cool-down last until 6.7 s; the frozen server is found out at 6 s.
    await clock.advance(5_900);
    const [first, second] = directory.snapshot().peers.map(({ endpoints }) => endpoints[0]!.usable());
    expect([first, second]).toEqual([true, false]);
    cooling.probed.mode = 'up';
    // Until the frozen server is probed again, after its own first cool-down.
    await clock.advance(250);
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('gets its late answer where no other server could take it', async () => {
    const frozen = await server();
    const incapable = await server();
    incapable.probed.groups = { '/v1/pods': 'get list' };
    await route(frozen.address, incapable.address);
    frozen.probed.mode = 'hanging';
    const answer = get();
    await until(() => late.length === 1, 'request at the frozen server');
    await clock.advance(FOUND_OUT_MS);
    expect(directory.snapshot().departed.map(({ identity }) => identity)).toEqual(['p0']);
    late[0]!();
    expect(await textOf(await answer)).toBe('{"late":true}');
    expect(incapable.requests).toEqual([]);
  });

  it('gets its late answer where all servers that could take it are frozen', async () => {
    const servers = [await server(), await server()];
    await route(...servers.map(({ address }) => address));
    for (const each of servers) each.probed.mode = 'hanging';
    const answer = get();
    await until(() => late.length === 1, 'request at a frozen server');
    await clock.advance(FOUND_OUT_MS);
    // It may have been sent on before the second server was found out.
    for (const reply of late) reply();
    expect(await textOf(await answer)).toBe('{"late":true}');
  });

  it('is ended as before where the local server could take it', async () => {
    const frozen = await server();
    await route(frozen.address);
    localServes = true;
    frozen.probed.mode = 'hanging';
    const answer = get().catch((error: unknown) => error);
    await until(() => late.length === 1, 'request at the frozen server');
    await clock.advance(FOUND_OUT_MS);
    expect(await answer).toMatchObject({ status: { code: 503 } });
  });
});
