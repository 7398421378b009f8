import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { MetricRegistry } from '../../base/metrics.js';
import type { Destination } from '../../http/outgoing.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import type { Surface } from '../../kube/surface.js';
import { group, resource, surfaceOf, version } from '../discovery/surface.fixture.js';
import type { PassthroughState } from '../passthrough/passthrough.js';
import type { DepartedServer, Peer, PeerDirectory, PeerTable } from '../peers/peer-table.js';
import { buildPeerTable } from '../peers/table-index.js';
import { endpoint, type PlayedEndpoint } from '../routing/routing.fixture.js';
import type { Channel } from './channel.js';
import { SharedView } from './shared-view.js';
import { Worker } from './worker.js';
import type { Question, ToHead, ToWorker, ViewUpdate } from './worker-messages.js';

const OFF: PassthroughState = { on: false, sinceMs: 0, reason: '' };
const WIDGETS = parseRequestInfo('GET', '/apis/example.com/v1/namespaces/d/widgets')!;

function widgets(kubernetesVersion = 'v1.36.4'): Surface {
  return surfaceOf([group('example.com', version('v1', resource('widgets')))], [], kubernetesVersion);
}

/** The head's directory, with a table set by the test. */
class PlayedDirectory implements PeerDirectory {
  table: PeerTable = buildPeerTable({ peers: [], unread: [], departed: [] });
  isSynced = true;

  show(peers: readonly Peer[], departed: readonly DepartedServer[] = []): void {
    this.table = buildPeerTable({ peers, unread: peers.filter(({ surface }) => !surface), departed });
  }

  snapshot = () => this.table;
  onChange = () => () => {};
  synced = () => this.isSynced;
  refresh = async () => {};
}

class PlayedDestination implements Pick<Destination, 'address' | 'inFlight' | 'abandonWaiting' | 'close'> {
  readonly inFlight = 0;
  readonly abandoned: string[] = [];
  isClosed = false;

  constructor(readonly address: string) {}

  abandonWaiting(reason: string): void {
    this.abandoned.push(reason);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** A head and a worker in one process; messages are copied as by an IPC channel. */
function headAndWorker(answer: (question: Question) => Promise<unknown> = async () => undefined, localReady = true) {
  const directory = new PlayedDirectory();
  const head = { local: undefined as Surface | undefined };
  const view = new SharedView({ localSurface: () => head.local, directory });
  const sent: ViewUpdate[] = [];
  const connect = () => {
    const clock = new ManualClock();
    const destinations: PlayedDestination[] = [];
    let worker: Worker | undefined;
    const hear = (message: ToWorker, socket?: Socket) => worker?.heard(structuredClone(message), socket);
    const subscription = view.subscribe((update) => {
      sent.push(update);
      hear({ type: 'view', view: update });
    });
    const toHead: ToHead[] = [];
    const channel: Channel<ToHead, ToWorker> = {
      onMessage: () => {},
      send: (message) => {
        toHead.push(message);
        if (message.type === 'endpoint-failed') {
          queueMicrotask(() => subscription.endpointFailed(message.endpoint, message.why, message.failure));
        } else if (message.type === 'question') {
          const { id, question } = message;
          answer(question).then(
            (value) => {
              view.flush();
              hear({ type: 'answer', id, value });
            },
            (error: Error) => hear({ type: 'answer', id, error: error.message }),
          );
        }
      },
    };
    const first = subscription.first();
    worker = new Worker({
      channel,
      start: { type: 'start', config: {}, worker: 1, view: structuredClone(first), localReady, passthrough: OFF },
      clock,
      metrics: new MetricRegistry(),
      makeDestination: ({ address }) => {
        const destination = new PlayedDestination(address);
        destinations.push(destination);
        return destination as unknown as Destination;
      },
    });
    return { worker, clock, destinations, toHead, first, subscription, hear };
  };
  return { directory, head, view, sent, connect };
}

describe('Worker', () => {
  it('has the surface and peer table of the head from its start', () => {
    const { directory, head, connect } = headAndWorker();
    head.local = widgets('v1.35.0');
    directory.show(
      [
        { identity: 'b', surface: widgets(), endpoints: [endpoint('10.0.0.2:6443')] },
        { identity: 'c', surface: undefined, endpoints: [endpoint('10.0.0.3:6443', { usable: false })] },
      ],
      [{ identity: 'd', surface: widgets(), departedAtMs: 7 }],
    );
    const { worker } = connect();
    expect(worker.surface.surface).toEqual(head.local);
    const table = worker.directory.snapshot();
    expect(worker.directory.synced()).toBe(true);
    expect(table.capable(WIDGETS).map(({ identity }) => identity)).toEqual(['b']);
    expect(table.unread.map(({ identity }) => identity)).toEqual(['c']);
    expect(table.departedWith(WIDGETS)).toMatchObject({ identity: 'd', departedAtMs: 7 });
    expect(table.peers.map(({ endpoints }) => endpoints[0]!.usable())).toEqual([true, false]);
  });

  it('gets each surface once, and after a change only the changed surface', async () => {
    const { directory, head, view, sent, connect } = headAndWorker();
    const b: Peer = { identity: 'b', surface: widgets(), endpoints: [endpoint('10.0.0.2:6443')] };
    head.local = widgets('v1.35.0');
    directory.show([b]);
    const { worker, first } = connect();
    expect(first.surfaces).toHaveLength(2);
    const table = worker.directory.snapshot();
    (b.endpoints[0] as PlayedEndpoint).usableNow = false;
    view.changed();
    view.changed();
    await settle();
    expect(sent).toHaveLength(1);
    expect(sent[0]!.surfaces).toEqual([]);
    // The table is not rebuilt when only the health of an address changes.
    expect(worker.directory.snapshot()).toBe(table);
    expect(table.peers[0]!.endpoints[0]!.usable()).toBe(false);
    let heard = 0;
    worker.directory.onChange(() => heard++);
    directory.show([{ ...b, surface: { ...widgets('v1.37.0'), versionDocument: '{"minor":"37"}' } }]);
    view.changed();
    await settle();
    expect(sent[1]!.surfaces).toHaveLength(1);
    expect(heard).toBe(1);
    expect(worker.directory.snapshot().peers[0]!.surface).toMatchObject({
      kubernetesVersion: 'v1.37.0',
      versionDocument: '{"minor":"37"}',
    });
  });

  it('gets a surface again after it was absent from the view', async () => {
    const { directory, view, connect } = headAndWorker();
    const b: Peer = { identity: 'b', surface: widgets(), endpoints: [endpoint('10.0.0.2:6443')] };
    directory.show([b]);
    const { worker } = connect();
    for (const peers of [[], [b]]) {
      directory.show(peers);
      view.changed();
      await settle();
    }
    expect(worker.directory.snapshot().capable(WIDGETS)).toHaveLength(1);
  });

  it('gets the whole view when it starts later, and sends nothing to the others', async () => {
    const { directory, sent, connect } = headAndWorker();
    directory.show([{ identity: 'b', surface: widgets(), endpoints: [endpoint('10.0.0.2:6443')] }]);
    connect();
    const { first } = connect();
    await settle();
    expect(first.surfaces).toHaveLength(1);
    expect(sent).toEqual([]);
  });

  it('stops using a failed address at once, reports it, then follows the head', async () => {
    const { directory, view, connect } = headAndWorker();
    const played = endpoint('10.0.0.2:6443');
    directory.show([{ identity: 'b', surface: widgets(), endpoints: [played] }]);
    const [one, other] = [connect(), connect()];
    const usable = () => [one, other].map(({ worker }) => worker.directory.snapshot().peers[0]!.endpoints[0]!.usable());
    expect(usable()).toEqual([true, true]);
    // A view that the head sent before it got the report must not make the address usable.
    view.changed();
    one.worker.directory.snapshot().peers[0]!.endpoints[0]!.report('failed', 'reset');
    view.flush();
    expect(usable()).toEqual([false, true]);
    await settle();
    expect(played.reports).toEqual(['failed reset']);
    expect(usable()).toEqual([false, false]);
    played.usableNow = true;
    view.changed();
    await settle();
    expect(usable()).toEqual([true, true]);
  });

  it('fails the requests that wait for a server that hangs according to the head', () => {
    const { directory, connect } = headAndWorker();
    directory.show([{ identity: 'b', surface: widgets(), endpoints: [endpoint('10.0.0.2:6443')] }]);
    const { destinations, hear } = connect();
    hear({ type: 'hang', endpoint: { kind: 'kube-apiserver', address: '10.0.0.2:6443' }, why: 'no answer' });
    expect(destinations[0]!.abandoned).toEqual(['no answer']);
  });

  it('closes the connections to a removed address after a while', async () => {
    const { directory, view, connect } = headAndWorker();
    const b: Peer = { identity: 'b', surface: widgets(), endpoints: [endpoint('10.0.0.2:6443')] };
    directory.show([b]);
    const { clock, destinations } = connect();
    directory.show([]);
    view.changed();
    await settle();
    await clock.advance(29_000);
    expect(destinations[0]!.isClosed).toBe(false);
    directory.show([b]);
    view.changed();
    await settle();
    await clock.advance(60_000);
    expect(destinations.map(({ isClosed }) => isClosed)).toEqual([false]);
    directory.show([]);
    view.changed();
    await settle();
    await clock.advance(31_000);
    expect(destinations[0]!.isClosed).toBe(true);
  });

  it('has the passthrough of its start, then that of each message, and leaves orders to the head', async () => {
    const on: PassthroughState = { on: true, sinceMs: 7, reason: 'because' };
    const questions: Question[] = [];
    let toWorkers = (_: ToWorker) => {};
    const { connect } = headAndWorker(async (question) => {
      questions.push(question);
      toWorkers({ type: 'passthrough', state: on });
      return { state: on, notKept: undefined };
    });
    const { worker, hear } = connect();
    toWorkers = hear;
    expect(worker.passthrough.state).toEqual(OFF);
    const wanted = { on: true, reason: 'because', by: 'jane' };
    const switching = worker.passthrough
      .set(wanted)
      .then((switched) => ({ switched, state: worker.passthrough.state }));
    expect(await switching).toEqual({ switched: { state: on, notKept: undefined }, state: on });
    expect(questions).toEqual([{ what: 'passthrough', wanted }]);
  });

  it('gets the new view before the answer of the head', async () => {
    const { head, view, connect } = headAndWorker(async (question) => {
      expect(question).toEqual({ what: 'read-local-anew' });
      head.local = widgets('v1.37.0');
      view.changed();
    }, false);
    const { worker } = connect();
    await worker.surface.readAnew();
    expect(worker.surface.surface?.kubernetesVersion).toBe('v1.37.0');
  });

  it('does not make the head read again at start if the first view is fresh', async () => {
    const questions: Question[] = [];
    const { head, connect } = headAndWorker(async (question) => void questions.push(question));
    head.local = widgets();
    const { worker } = connect();
    await worker.surface.readAnew();
    expect(questions).toEqual([]);
    await worker.surface.readAnew();
    expect(questions).toEqual([{ what: 'read-local-anew' }]);
  });

  it('rejects when the head could not read, or after a timeout', async () => {
    const { connect } = headAndWorker(async () => {
      throw new Error('GET /apis answered 500');
    }, false);
    await expect(connect().worker.surface.readAnew()).rejects.toThrow('GET /apis answered 500');
    const silent = headAndWorker(() => new Promise(() => {}), false).connect();
    const [reading, page] = [silent.worker.surface.readAnew(), silent.worker.metricsPage()];
    const refreshed = silent.worker.surface.refresh();
    const failures = Promise.allSettled([reading, page]);
    await silent.clock.advance(10_000);
    await refreshed;
    expect((await failures).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
