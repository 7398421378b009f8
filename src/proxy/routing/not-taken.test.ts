import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { AttemptError } from '../../http/attempt-error.js';
import { BodyStream } from '../../http/body-stream.js';
import { Exchange, type Reply } from '../../http/exchange.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import { noPeers } from '../peers/no-peers.js';
import type { Peer, PeerDirectory, PeerEndpoint } from '../peers/peer-table.js';
import { buildPeerTable } from '../peers/table-index.js';
import { type RerouteOutcome, Rerouter } from './reroute.js';
import { createRouter, type LocalHost } from './router.js';

function request(method: string, target: string): Exchange {
  const connection = { remoteAddress: '127.0.0.1', certificateChain: [] };
  const exchange = new Exchange({ method, target, headers: [], body: null, connection }, 0);
  exchange.info = parseRequestInfo(method, target)!;
  return exchange;
}

const post = (target: string): Exchange => request('POST', target);

const common = { directory: noPeers(), clock: new ManualClock(), metrics: createMetrics(), logger: silentLogger };

/** What a Straddle answers to a request that a peer has sent it. */
async function refusalOf(host: Partial<LocalHost>): Promise<Reply> {
  const rerouter = new Rerouter({ ...common, dispatch: () => Promise.reject(), attemptsMax: 1 });
  const handler = createRouter({
    ...common,
    host: host as LocalHost,
    localSurface: () => undefined,
    refreshLocal: async () => {},
    rerouter,
  });
  const exchange = post('/api/v1/namespaces/default/pods');
  exchange.peerProxied = true;
  const error = await handler(exchange).catch((thrown: StatusError) => thrown);
  if (!(error instanceof StatusError)) throw new Error('was answered');
  return { status: error.status.code, headers: error.headers, body: Buffer.from('{}') };
}

/** A directory in which these serve everything. */
function directoryOf(peers: readonly Peer[]): PeerDirectory {
  const table = { ...buildPeerTable({ peers, unread: [], departed: [] }), capable: () => peers };
  return { ...noPeers(), snapshot: () => table };
}

async function replyOf(rerouted: Promise<RerouteOutcome>): Promise<Reply> {
  const outcome = await rerouted;
  if (outcome.kind === 'stale') throw new Error('stale');
  return outcome.reply;
}

function peersOf(...kinds: PeerEndpoint['kind'][]) {
  const reports: string[][] = kinds.map(() => []);
  const peers: Peer[] = kinds.map((kind, i) => ({
    identity: `p${i}`,
    surface: undefined,
    endpoints: [
      {
        kind,
        destination: { inFlight: 0, address: `p${i}:443` } as never,
        usable: () => true,
        report: (outcome) => reports[i]!.push(outcome),
      },
    ],
  }));
  return { peers, reports };
}

const down: Partial<LocalHost> = { ready: () => false };
const dies: Partial<LocalHost> = {
  ready: () => true,
  handle: () => Promise.reject(new AttemptError('unsent', 'connect', 'refused')),
};
const breaks: Partial<LocalHost> = {
  ready: () => true,
  handle: () => Promise.reject(new AttemptError('maybe', 'reset', 'reset')),
};

describe('a request sent to a Straddle whose server is down', () => {
  it.each([
    ['is known to be', down],
    ['turns out to be', dies],
  ])('moves on, whatever its method, where the server %s down', async (_, host) => {
    const refusal = await refusalOf(host);
    const { peers, reports } = peersOf('straddle', 'kube-apiserver');
    const created: Reply = { status: 201, headers: [], body: null };
    const rerouter = new Rerouter({
      ...common,
      directory: directoryOf(peers),
      attemptsMax: 3,
      dispatch: async ({ peer }) => (peer.identity === 'p0' ? refusal : created),
    });
    expect(await replyOf(rerouter.reroute(post('/api/v1/namespaces/default/pods'), peers, 'test'))).toBe(created);
    expect(reports).toEqual([['failed'], ['answered']]);
  });

  it('does not move on with a write if the server may have begun with it', async () => {
    const refusal = await refusalOf(breaks);
    const { peers } = peersOf('straddle', 'kube-apiserver');
    let sent = 0;
    const dispatch = async () => {
      sent++;
      return refusal;
    };
    const rerouter = new Rerouter({ ...common, attemptsMax: 3, dispatch });
    const answered = rerouter.reroute(post('/api/v1/namespaces/default/pods'), peers, 'test');
    await expect(answered).rejects.toMatchObject({ status: { code: 503 } });
    expect(sent).toBe(1);
  });

  it('moves on with a read if the server does not answer, although it may have begun with it', async () => {
    const refusal = await refusalOf(breaks);
    const { peers, reports } = peersOf('straddle', 'kube-apiserver');
    const found: Reply = { status: 200, headers: [], body: null };
    const rerouter = new Rerouter({
      ...common,
      directory: directoryOf(peers),
      attemptsMax: 3,
      dispatch: async ({ peer }) => (peer.identity === 'p0' ? refusal : found),
    });
    expect(await replyOf(rerouter.reroute(request('GET', '/api/v1/pods'), peers, 'test'))).toBe(found);
    expect(reports).toEqual([['failed'], ['answered']]);
  });

  it('moves on, whatever its method, where the server does not serve the resource', async () => {
    const unknown: Reply = { status: 404, headers: ['Content-Type', 'text/plain'], body: null };
    const refusal = await refusalOf({ ready: () => true, handle: async () => unknown });
    const { peers, reports } = peersOf('straddle', 'kube-apiserver');
    const created: Reply = { status: 201, headers: [], body: null };
    const rerouter = new Rerouter({
      ...common,
      directory: directoryOf(peers),
      attemptsMax: 3,
      dispatch: async ({ peer }) => (peer.identity === 'p0' ? refusal : created),
    });
    expect(await replyOf(rerouter.reroute(post('/api/v1/namespaces/default/pods'), peers, 'test'))).toBe(created);
    expect(reports).toEqual([['answered'], ['answered']]);
  });

  it.each([
    ['an API server', 'kube-apiserver', '/api/v1/namespaces/default/pods'],
    ['a pod', 'straddle', '/api/v1/namespaces/default/pods/x/proxy/y'],
  ] as const)('does not believe the mark from %s', async (_, kind, target) => {
    const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
    const refusal = { ...(await refusalOf(down)), body };
    const { peers } = peersOf(kind, kind);
    const rerouter = new Rerouter({ ...common, attemptsMax: 3, dispatch: async () => refusal });
    expect(await replyOf(rerouter.reroute(post(target), peers, 'test'))).toBe(refusal);
  });
});
