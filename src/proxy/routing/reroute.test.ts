import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../http/attempt-error.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { takeBody } from '../../http/gather-body.js';
import { StatusError } from '../../kube/status-error.js';
import type { Peer } from '../peers/peer-table.js';
import type { Dispatch } from './reroute.js';
import {
  answer,
  ask,
  endpoint,
  type PlayedEndpoint,
  peer,
  routing,
  surfaceOf,
  tableOf,
  UNKNOWN,
} from './routing.fixture.js';

const JOBS = surfaceOf({
  'batch/v2/jobs': 'get list create watch',
  '/v1/pods': 'get',
  '/v1/pods/proxy': 'get create',
  '/v1/pods/exec': 'get create',
});
const COLLECTION = '/apis/batch/v2/namespaces/x/jobs';

const unsent = () => Promise.reject(new AttemptError('unsent', 'connect', 'connection refused'));
const hang = () => Promise.reject(new AttemptError('maybe', 'hang', 'no answer to a probe'));
const busy = () => Promise.reject(new StatusError('TooManyRequests', 'too many requests are waiting'));
const maybe = () => Promise.reject(new AttemptError('maybe', 'reset', 'connection reset'));

/** Peers `a`, `b`, … that answer in turn as given. */
function scripted(...answers: ((exchange: Exchange) => Promise<Reply>)[]) {
  const tried: string[] = [];
  const peers: Peer[] = answers.map((_, i) => peer(String.fromCharCode(97 + i), JOBS));
  const dispatch: Dispatch = ({ peer: { identity } }, exchange) => {
    tried.push(identity);
    return answers[identity.charCodeAt(0) - 97]!(exchange);
  };
  const reports = (identity: string) =>
    (peers.find((each) => each.identity === identity)!.endpoints[0] as PlayedEndpoint).reports;
  return {
    tried,
    peers,
    dispatch,
    reports,
    ...routing({ table: tableOf(peers), dispatch, host: { handle: async () => answer(404) } }),
  };
}

const refusal = async (attempt: Promise<unknown>): Promise<StatusError> => {
  const error = await attempt.catch((thrown: unknown) => thrown);
  if (!(error instanceof StatusError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  return error;
};

describe('Rerouter failover', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('sends an unsent %s to the next peer', async (method) => {
    const { tried, rerouter, peers, reports, count } = scripted(unsent, async () => answer(201));
    const outcome = await rerouter.reroute(ask(method, COLLECTION), peers, 'test');
    expect(outcome).toMatchObject({ kind: 'reply', reply: { status: 201 }, from: { peer: peers[1] } });
    expect(tried).toEqual(['a', 'b']);
    expect(reports('a')).toEqual(['failed connection refused']);
    expect(reports('b')).toEqual(['answered']);
    expect(count('straddle_failovers_total{from="a",type="connect"} 1')).toBe(true);
    expect(
      count('apiserver_peer_proxy_errors_total{type="connect",group="batch",version="v2",resource="jobs"} 1'),
    ).toBe(true);
    expect(count('apiserver_rerouted_request_total{code="201",group="batch",version="v2",resource="jobs"} 1')).toBe(
      true,
    );
  });

  it.each(['GET', 'HEAD'])('sends %s to the next peer even if it may have been processed', async (method) => {
    const { tried, rerouter, peers } = scripted(maybe, async () => answer());
    await rerouter.reroute(ask(method, `${COLLECTION}?watch=1`), peers, 'test');
    expect(tried).toEqual(['a', 'b']);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('never repeats %s that may have been processed', async (method) => {
    const { tried, rerouter, peers } = scripted(maybe, async () => answer());
    const error = await refusal(rerouter.reroute(ask(method, COLLECTION), peers, 'test'));
    expect(error.status.code).toBe(503);
    expect(tried).toEqual(['a']);
  });

  it('never repeats an exec that may have begun, although it is a GET', async () => {
    const { tried, rerouter, peers } = scripted(maybe, async () => answer());
    await refusal(rerouter.reroute(ask('GET', '/api/v1/namespaces/x/pods/p/exec', null, true), peers, 'test'));
    expect(tried).toEqual(['a']);
  });

  it.each(['GET', 'POST'])('sends %s to the next peer if the limit of the first peer refuses it', async (method) => {
    const { tried, rerouter, peers, reports, count } = scripted(busy, async () => answer(201));
    const outcome = await rerouter.reroute(ask(method, COLLECTION), peers, 'test');
    expect(outcome).toMatchObject({ kind: 'reply', reply: { status: 201 }, from: { peer: peers[1] } });
    expect(tried).toEqual(['a', 'b']);
    expect(reports('a')).toEqual([]);
    expect(count('apiserver_peer_proxy_errors_total{')).toBe(false);
  });

  it('answers 429 if the limits of all capable peers refuse a request, or other peers failed', async () => {
    const full = scripted(busy, busy);
    expect((await refusal(full.rerouter.reroute(ask('GET', COLLECTION), full.peers, 'test'))).status.code).toBe(429);
    expect(full.tried).toEqual(['a', 'b']);
    const failing = scripted(busy, unsent);
    const error = await refusal(failing.rerouter.reroute(ask('GET', COLLECTION), failing.peers, 'test'));
    expect(error.status.code).toBe(429);
  });

  it('does not try a second address of a peer whose limit refused a request', async () => {
    const addresses = [endpoint('a:1'), endpoint('a:2')];
    const peers = [peer('a', JOBS, ...addresses)];
    let sent = 0;
    const dispatch: Dispatch = () => {
      sent++;
      return busy();
    };
    const { rerouter } = routing({ table: tableOf(peers), dispatch });
    expect((await refusal(rerouter.reroute(ask('GET', COLLECTION), peers, 'test'))).status.code).toBe(429);
    expect(sent).toBe(1);
  });

  it('does not try another peer after an abort in the queue of the first peer', async () => {
    const { tried, rerouter, peers } = scripted(
      async (exchange) => {
        exchange.abort();
        return busy();
      },
      async () => answer(),
    );
    expect((await refusal(rerouter.reroute(ask('GET', COLLECTION), peers, 'test'))).status.code).toBe(429);
    expect(tried).toEqual(['a']);
  });

  it('sends a streamed body to the next peer only while no byte of it was read', async () => {
    const body = new PassThrough();
    const untouched = scripted(
      async (exchange) => {
        takeBody(exchange);
        return unsent();
      },
      async () => answer(201),
    );
    expect(await untouched.rerouter.reroute(ask('POST', COLLECTION, body), untouched.peers, 'test')).toMatchObject({
      reply: { status: 201 },
    });

    const touched = scripted(
      async (exchange) => {
        takeBody(exchange);
        exchange.body!.resume();
        exchange.body!.read();
        return unsent();
      },
      async () => answer(201),
    );
    body.write('x');
    await refusal(touched.rerouter.reroute(ask('POST', COLLECTION, body), touched.peers, 'test'));
    expect(touched.tried).toEqual(['a']);
  });

  it('tries at most attemptsMax peers', async () => {
    const { tried, rerouter, peers } = scripted(unsent, unsent, unsent, unsent, unsent);
    await refusal(rerouter.reroute(ask('GET', COLLECTION), peers, 'test'));
    expect(tried).toEqual(['a', 'b', 'c']);
  });

  it('answers 503 with the resource, the attempts, their errors and Retry-After', async () => {
    const { rerouter, peers } = scripted(unsent, maybe);
    const error = await refusal(rerouter.reroute(ask('POST', COLLECTION), peers, 'test'));
    expect(error.status).toMatchObject({ code: 503, reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 } });
    expect(error.message).toMatch(/jobs.*batch/);
    expect(error.message).toContain('a: connection refused; b: connection reset');
  });

  it('names the peers in the 503 if none of them is usable', async () => {
    const { rerouter } = scripted();
    const resting = peer('resting', JOBS, endpoint('x', { usable: false }));
    expect((await refusal(rerouter.reroute(ask('GET', COLLECTION), [resting], 'test'))).message).toContain('resting');
  });

  it('reports no failure of a peer after an abort by the client', async () => {
    const { tried, rerouter, peers, reports } = scripted(
      async (exchange) => {
        exchange.abort();
        throw new AttemptError('maybe', 'aborted', 'the client left');
      },
      async () => answer(),
    );
    await refusal(rerouter.reroute(ask('GET', COLLECTION), peers, 'test'));
    expect(tried).toEqual(['a']);
    expect(reports('a')).toEqual([]);
  });

  it('reports no failure of a peer for a malformed reply of a pod', async () => {
    const malformed = () => Promise.reject(new AttemptError('maybe', 'protocol', 'too many fields'));
    const { rerouter, peers, reports } = scripted(malformed, malformed);
    await refusal(rerouter.reroute(ask('GET', '/api/v1/namespaces/x/pods/p/proxy/'), peers, 'test'));
    expect([...reports('a'), ...reports('b')]).toEqual([]);
    await refusal(rerouter.reroute(ask('GET', COLLECTION), peers, 'test'));
    expect([...reports('a'), ...reports('b')]).toHaveLength(2);
  });

  it('passes on a StatusError that is neither a failure of the peer nor its limit', async () => {
    const { tried, rerouter, peers } = scripted(
      () => Promise.reject(new StatusError('BadRequest', 'duplicate host header')),
      async () => answer(),
    );
    expect((await refusal(rerouter.reroute(ask('GET', COLLECTION), peers, 'test'))).status.code).toBe(400);
    expect(tried).toEqual(['a']);
  });
});

describe('Rerouter with a capable peer that was not tried yet', () => {
  it('sends a GET to a peer that came back while a frozen peer was tried', async () => {
    const frozen = peer('a', JOBS);
    let table = tableOf([frozen]);
    const { handler } = routing({
      table: () => table,
      dispatch: ({ peer: { identity } }) => {
        if (identity === 'b') return Promise.resolve(answer());
        table = tableOf([frozen, peer('b', JOBS)]);
        return hang();
      },
    });
    expect(await handler(ask('GET', COLLECTION))).toMatchObject({ status: 200 });
  });

  it('probes a peer in cool-down at once after the others have failed', async () => {
    const resting = endpoint('b:6443', { usable: false });
    const { handler, refreshed } = routing({
      table: tableOf([peer('a', JOBS), peer('b', JOBS, resting)]),
      dispatch: ({ peer: { identity } }) => (identity === 'b' ? Promise.resolve(answer()) : hang()),
      onRefreshPeer: () => {
        resting.usableNow = true;
      },
    });
    expect(await handler(ask('GET', COLLECTION))).toMatchObject({ status: 200 });
    expect(refreshed).toEqual(['b']);
  });

  it('answers 503 if the probe of a peer in cool-down fails', async () => {
    const resting = endpoint('b:6443', { usable: false });
    const { handler, refreshed } = routing({
      table: tableOf([peer('a', JOBS), peer('b', JOBS, resting)]),
      dispatch: hang,
    });
    const error = await refusal(handler(ask('GET', COLLECTION)));
    expect(error.message).toContain('a: no answer to a probe');
    expect(refreshed).toEqual(['b']);
  });

  it('does not probe for a write that may have been processed', async () => {
    const resting = endpoint('b:6443', { usable: false });
    const { handler, refreshed } = routing({
      table: tableOf([peer('a', JOBS), peer('b', JOBS, resting)]),
      dispatch: hang,
    });
    await refusal(handler(ask('POST', COLLECTION)));
    expect(refreshed).toEqual([]);
  });

  it('prefers another peer to the second address of a failed one', async () => {
    const tried: string[] = [];
    const { handler } = routing({
      table: tableOf([peer('a', JOBS, endpoint('a:6443'), endpoint('a:443')), peer('b', JOBS)]),
      attemptsMax: 2,
      dispatch: ({ endpoint: { destination } }) => {
        tried.push(destination.address);
        return destination.address === 'b:6443' ? Promise.resolve(answer()) : hang();
      },
    });
    expect(await handler(ask('GET', COLLECTION))).toMatchObject({ status: 200 });
    expect(tried).toEqual(['a:6443', 'b:6443']);
  });

  it('tries it after a peer that does not serve the resource and cannot be read', async () => {
    const { handler } = routing({
      table: tableOf([peer('a', JOBS), peer('b', JOBS)]),
      dispatch: async ({ peer: { identity } }) => (identity === 'b' ? answer() : UNKNOWN),
    });
    expect(await handler(ask('GET', COLLECTION))).toMatchObject({ status: 200 });
  });
});

describe('Rerouter with a reply that contradicts the surface', () => {
  it('reads the peer again after an unknown resource and routes the request again', async () => {
    let table = tableOf([peer('a', JOBS), peer('b', JOBS)]);
    const tried: string[] = [];
    const { handler, refreshed } = routing({
      table: () => table,
      dispatch: async ({ peer: { identity } }) => {
        tried.push(identity);
        if (identity === 'b') return answer(200);
        table = tableOf([peer('a', surfaceOf({})), peer('b', JOBS)]);
        return UNKNOWN;
      },
    });
    expect(await handler(ask('GET', COLLECTION))).toMatchObject({ status: 200 });
    expect(tried).toEqual(['a', 'b']);
    expect(refreshed).toEqual(['a']);
  });

  it('answers 503 and never 404 if every reply is an unknown resource', async () => {
    const { handler, refreshed } = routing({ table: tableOf([peer('a', JOBS)]), dispatch: async () => UNKNOWN });
    expect((await refusal(handler(ask('GET', COLLECTION)))).status.code).toBe(503);
    expect(refreshed.length).toBeLessThan(5);
  });

  it('passes on the 404 of a missing object', async () => {
    const { handler, refreshed } = routing({ table: tableOf([peer('a', JOBS)]), dispatch: async () => answer(404) });
    expect(await handler(ask('GET', `${COLLECTION}/j`))).toMatchObject({ status: 404 });
    expect(refreshed).toEqual([]);
  });

  it('passes on the 404 of a web server inside a pod', async () => {
    let sent = 0;
    const { handler } = routing({
      table: tableOf([peer('a', JOBS)]),
      dispatch: async () => {
        sent++;
        return UNKNOWN;
      },
    });
    expect(await handler(ask('POST', '/api/v1/namespaces/x/pods/p/proxy/page'))).toBe(UNKNOWN);
    expect(sent).toBe(1);
  });

  it('passes on a 503 and reads the peer again', async () => {
    const { handler, refreshed } = routing({ table: tableOf([peer('a', JOBS)]), dispatch: async () => answer(503) });
    expect(await handler(ask('GET', COLLECTION))).toMatchObject({ status: 503 });
    expect(refreshed).toEqual(['a']);
  });

  it('answers 503 after an unknown resource if a streamed body cannot be sent again', async () => {
    const body = new PassThrough();
    const { handler } = routing({
      table: tableOf([peer('a', JOBS)]),
      dispatch: async (_, exchange) => {
        takeBody(exchange);
        exchange.body!.read();
        return UNKNOWN;
      },
    });
    body.write('x');
    expect((await refusal(handler(ask('POST', COLLECTION, body)))).status.code).toBe(503);
  });
});
