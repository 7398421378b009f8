import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { AttemptError, type Host } from '../../core/host.js';
import { BodyStream } from '../../http/body-stream.js';
import { Exchange, type Reply } from '../../http/exchange.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import { noPeers } from '../../peers/no-peers.js';
import { createRouter } from '../../routing/router.js';
import type { Peer, PeerEndpoint } from '../peers/peer-table.js';
import { Rerouter } from './reroute.js';

function post(target: string): Exchange {
  const connection = { remoteAddress: '127.0.0.1', certificateChain: [] };
  const exchange = new Exchange({ method: 'POST', target, headers: [], body: null, connection }, 0);
  exchange.info = parseRequestInfo('POST', target)!;
  return exchange;
}

const common = { directory: noPeers(), clock: new ManualClock(), metrics: createMetrics(), logger: silentLogger };

/** What a Straddle answers to a request that a peer has sent it. */
async function refusalOf(host: Partial<Host>): Promise<Reply> {
  const rerouter = new Rerouter({ ...common, dispatch: () => Promise.reject(), attemptsMax: 1 });
  const handler = createRouter({
    ...common,
    host: host as Host,
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

const down: Partial<Host> = { ready: () => false };
const dies: Partial<Host> = {
  ready: () => true,
  handle: () => Promise.reject(new AttemptError('unsent', 'connect', 'refused')),
};
const breaks: Partial<Host> = {
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
      attemptsMax: 3,
      dispatch: async ({ peer }) => (peer.identity === 'p0' ? refusal : created),
    });
    expect(await rerouter.reroute(post('/api/v1/namespaces/default/pods'), peers, 'test')).toBe(created);
    expect(reports).toEqual([['failed'], ['answered']]);
  });

  it('does not move on if the server may have begun with it', async () => {
    const refusal = await refusalOf(breaks);
    const { peers } = peersOf('straddle', 'kube-apiserver');
    const rerouter = new Rerouter({ ...common, attemptsMax: 3, dispatch: async () => refusal });
    expect(await rerouter.reroute(post('/api/v1/namespaces/default/pods'), peers, 'test')).toBe(refusal);
  });

  it.each([
    ['an API server', 'kube-apiserver', '/api/v1/namespaces/default/pods'],
    ['a pod', 'straddle', '/api/v1/namespaces/default/pods/x/proxy/y'],
  ] as const)('does not believe the mark from %s', async (_, kind, target) => {
    const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
    const refusal = { ...(await refusalOf(down)), body };
    const { peers } = peersOf(kind, kind);
    const rerouter = new Rerouter({ ...common, attemptsMax: 3, dispatch: async () => refusal });
    expect(await rerouter.reroute(post(target), peers, 'test')).toBe(refusal);
  });
});
