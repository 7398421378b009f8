import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { BodyStream } from '../../http/body-stream.js';
import type { Reply } from '../../http/exchange.js';
import type { OutgoingRequest } from '../../http/outgoing.js';
import { createPeerDispatch } from './peer-dispatch.js';
import { answer, ask, endpoint, peer } from './routing.fixture.js';

function dispatching(send: (request: OutgoingRequest) => Promise<Reply>, heldMax = 1, fields: string[] = []) {
  const recipients: unknown[] = [];
  const dispatch = createPeerDispatch({
    outgoingHeaders: (_, to) => {
      recipients.push(to);
      return { headers: ['Host', 'x', ...fields], lane: 'front-proxy' };
    },
    headTimeoutMs: 60_000,
    hasAlternative: () => true,
    limits: { heldMax, queueMax: 1, waitMsMax: 1_000, clock: new ManualClock() },
  } as Parameters<typeof createPeerDispatch>[0]);
  const candidateOf = (identity: string) => {
    const one = endpoint(identity);
    Object.assign(one.destination, {
      send,
      upgrade: (request: OutgoingRequest) => send({ ...request, method: 'UPGRADE' }),
    });
    return { peer: peer(identity, undefined, one), endpoint: one };
  };
  return { dispatch, candidateOf, recipients };
}

describe('createPeerDispatch', () => {
  it('marks the request as rerouted, and bounds it in time unless it is long-running', async () => {
    const sent: OutgoingRequest[] = [];
    const { dispatch, candidateOf, recipients } = dispatching(async (request) => {
      sent.push(request);
      return answer();
    });
    await dispatch(candidateOf('b'), ask('GET', '/api/v1/pods?limit=1'));
    await dispatch(candidateOf('b'), ask('GET', '/api/v1/pods?watch=1'));
    await dispatch(candidateOf('b'), ask('GET', '/api/v1/namespaces/x/pods/p/exec', null, true));
    expect(recipients[0]).toMatchObject({ kind: 'kube-apiserver', rerouted: true });
    expect(sent[0]).toMatchObject({ target: '/api/v1/pods?limit=1', headTimeoutMs: 60_000, lane: 'front-proxy' });
    expect(sent[1]!.headTimeoutMs).toBe(0);
    expect(sent[2]!.method).toBe('UPGRADE');
  });

  it('asks for a watch without compression, so that it can be continued elsewhere, and for nothing else', async () => {
    const sent: OutgoingRequest[] = [];
    const record = async (request: OutgoingRequest) => {
      sent.push(request);
      return answer();
    };
    const { dispatch, candidateOf } = dispatching(record, 1, ['Accept-Encoding', 'gzip']);
    await dispatch(candidateOf('b'), ask('GET', '/api/v1/pods'));
    await dispatch(candidateOf('b'), ask('GET', '/api/v1/pods?watch=1&sendInitialEvents=true'));
    await dispatch(candidateOf('b'), ask('GET', '/api/v1/pods?watch=1&resourceVersion=1&resourceVersion=2'));
    const asIs = ['Host', 'x', 'Accept-Encoding', 'gzip'];
    expect(sent.map(({ headers }) => headers)).toEqual([asIs, ['Host', 'x', 'Accept-Encoding', 'identity'], asIs]);
  });

  it('limits the requests of each peer separately, with 429 beyond the queue', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const { dispatch, candidateOf } = dispatching(() => new Promise((resolve) => answers.push(resolve)));
    const first = dispatch(candidateOf('b'), ask('GET', '/api/v1/pods'));
    const queued = dispatch(candidateOf('b'), ask('GET', '/api/v1/pods'));
    await expect(dispatch(candidateOf('b'), ask('GET', '/api/v1/pods'))).rejects.toMatchObject({
      status: { code: 429 },
    });
    const other = dispatch(candidateOf('c'), ask('GET', '/api/v1/pods'));
    await settle();
    expect(answers).toHaveLength(2);
    for (let i = 0; i < 3; i++) {
      answers[i]!(answer());
      await settle();
    }
    await Promise.all([first, queued, other]);
  });

  it('releases the place of a watch with the head of its reply', async () => {
    const endless = () => new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
    const { dispatch, candidateOf } = dispatching(async () => ({ status: 200, headers: [], body: endless() }));
    const statuses: number[] = [];
    const watchInTurn = async (): Promise<void> => {
      while (statuses.length < 5) {
        statuses.push((await dispatch(candidateOf('b'), ask('GET', '/api/v1/pods?watch=1'))).status);
      }
    };
    void watchInTurn();
    await settle();
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });

  it('passes on an answer that contains the message of a shutdown only because the path does', async () => {
    const message = 'apiserver is shutting down';
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'ServiceUnavailable' };
    const answering = (text: string) => {
      const body = Buffer.from(JSON.stringify({ ...status, message: text, code: 503 }));
      const length = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
      return dispatching(async () => ({ status: 503, headers: [...length, 'Retry-After', '1'], body }));
    };
    const target = '/apis/x.example.io/v1/apiserver%20is%20shutting%20down';
    const echoing = answering(`no backend for /apis/x.example.io/v1/${message}`);
    expect(await echoing.dispatch(echoing.candidateOf('b'), ask('POST', target))).toMatchObject({ status: 503 });
    const draining = answering(message);
    await expect(draining.dispatch(draining.candidateOf('b'), ask('POST', target))).rejects.toMatchObject({
      processed: 'unsent',
      type: 'draining',
    });
  });
});
