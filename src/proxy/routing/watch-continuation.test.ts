import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { AttemptError } from '../../http/attempt-error.js';
import { BodyStream } from '../../http/body-stream.js';
import { Exchange, type Reply } from '../../http/exchange.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import type { Peer, PeerDirectory, PeerTable } from '../peers/peer-table.js';
import { Rerouter } from './reroute.js';
import { createRouter } from './router.js';
import {
  JSON_WATCH,
  PROTOBUF_WATCH,
  type SentEvent,
  WATCH_ENCODINGS,
  type WatchEncoding,
} from './watch-events.fixture.js';
import { EVENT_BYTES_MAX } from './watch-events.js';

interface Stored {
  readonly resourceVersion: number;
  readonly type: string;
  readonly endsState?: boolean;
}

/** What every server of the control plane reads from. */
class Store {
  readonly events: Stored[] = [];
  readonly #listeners = new Set<(event: Stored) => void>();

  add(type = 'ADDED', endsState = false): void {
    const event = { resourceVersion: 100 + this.events.length, type, endsState };
    this.events.push(event);
    for (const listener of this.#listeners) listener(event);
  }

  onAdd(listener: (event: Stored) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function sent({ resourceVersion, type, endsState = false }: Stored): SentEvent {
  const annotations = endsState ? { 'k8s.io/initial-events-end': 'true' } : {};
  const metadata = { name: `n${resourceVersion}`, resourceVersion: String(resourceVersion), annotations };
  return { type, object: { kind: 'PodGroup', metadata, spec: 'é'.repeat(resourceVersion % 7) } };
}

/** One watch as a server streams it: bytes wait while it is paused. */
class Stream {
  readonly body: BodyStream;
  cancelled = false;
  pauses = 0;
  #waiting = Buffer.alloc(0);
  #paused = false;
  #dead = false;
  #stop: () => void = () => {};

  constructor(
    store: Store,
    from: number,
    readonly encoding: WatchEncoding,
    readonly chunkBytes: () => number,
  ) {
    this.body = new BodyStream({
      pause: () => {
        this.#paused = true;
        this.pauses++;
      },
      resume: () => {
        this.#paused = false;
        this.#pump();
      },
      cancel: () => {
        this.cancelled = true;
        this.#stop();
      },
    });
    for (const event of store.events) if (event.resourceVersion > from) this.#send(event);
    this.#stop = store.onAdd((event) => this.#send(event));
  }

  get waitingBytes(): number {
    return this.#waiting.byteLength;
  }

  write(bytes: Uint8Array): void {
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    this.#pump();
  }

  /** Sends the first bytes of an event, at least one too few. */
  writePart(event: Stored, bytes: number): void {
    const whole = this.encoding.encode(sent(event));
    this.write(whole.subarray(0, bytes % (whole.length - 1)));
  }

  /** Breaks off; nothing that is written later is sent. */
  die(): void {
    this.#dead = true;
    this.#stop();
    this.body.fail(new AttemptError('maybe', 'reset', 'socket hang up'));
  }

  finish(): void {
    this.#stop();
    this.body.end();
  }

  #send(event: Stored): void {
    this.write(this.encoding.encode(sent(event)));
  }

  #pump(): void {
    while (!this.#paused && !this.#dead && !this.cancelled && this.#waiting.byteLength > 0) {
      const chunk = this.#waiting.subarray(0, Math.max(1, this.chunkBytes()));
      this.#waiting = this.#waiting.subarray(chunk.byteLength);
      this.body.push(chunk);
    }
  }
}

class Server {
  readonly streams: Stream[] = [];
  readonly asked: Exchange[] = [];
  readonly peer: Peer;
  readonly reports: string[] = [];
  usable = true;
  up = true;
  hangs = false;
  chunkBytes = () => 1 << 20;
  refusal: number | undefined;

  constructor(
    readonly identity: string,
    readonly store: Store,
    public encoding: WatchEncoding,
  ) {
    const endpoint = {
      kind: 'kube-apiserver' as const,
      destination: { inFlight: 0 } as never,
      usable: () => this.usable,
      report: (outcome: string) => {
        this.reports.push(outcome);
        if (outcome === 'failed') this.usable = this.up;
      },
    };
    this.peer = { identity, endpoints: [endpoint], surface: undefined };
  }

  get stream(): Stream {
    return this.streams.at(-1)!;
  }

  async answer(exchange: Exchange): Promise<Reply> {
    this.asked.push(exchange);
    if (!this.up) throw new AttemptError('unsent', 'connect', 'refused');
    if (this.hangs) {
      await new Promise<void>((resolve) => exchange.onAbort(resolve));
      throw new AttemptError('maybe', 'aborted', 'the client left');
    }
    const headers = ['Content-Type', this.encoding.contentType];
    if (this.refusal) return { status: this.refusal, headers, body: Buffer.from('{}') };
    const from = new URL(exchange.target, 'http://x').searchParams.get('resourceVersion');
    const stream = new Stream(this.store, Number(from ?? 0), this.encoding, () => this.chunkBytes());
    this.streams.push(stream);
    return { status: 200, headers, body: stream.body };
  }

  /** The machine is gone: nothing answers, and what was open breaks off. */
  kill(): void {
    this.up = false;
    for (const stream of this.streams) stream.die();
  }
}

/** A client that reads as fast as it is told to. */
class Client {
  readonly chunks: Uint8Array[] = [];
  outcome: 'open' | 'ended' | 'cut' = 'open';
  slow = false;

  constructor(
    readonly body: BodyStream,
    readonly encoding: WatchEncoding,
  ) {
    body.attach({
      write: (chunk) => {
        this.chunks.push(chunk);
        return !this.slow;
      },
      end: () => {
        this.outcome = 'ended';
      },
      fail: () => {
        this.outcome = 'cut';
      },
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get versions(): number[] {
    const { eventEnd, skim } = this.encoding.format;
    const versions: number[] = [];
    const { bytes } = this;
    for (let start = 0; start < bytes.length; ) {
      const end = eventEnd(bytes, start);
      const event = skim(bytes.subarray(start, end));
      if (event === 'malformed') throw new Error(`not an event: ${bytes.toString('latin1', start, end)}`);
      versions.push(Number(event.resourceVersion));
      start = end;
    }
    return versions;
  }
}

const FROM_99 = '/apis/scheduling.k8s.io/v1alpha2/podgroups?watch=1&resourceVersion=99&timeoutSeconds=300';
const FROM_STATE = '/apis/scheduling.k8s.io/v1alpha2/podgroups?watch=1&allowWatchBookmarks=true';

function setup({ identities = ['b', 'c'], encoding = JSON_WATCH } = {}) {
  const store = new Store();
  const servers = identities.map((identity) => new Server(identity, store, encoding));
  const clock = new ManualClock();
  const metrics = createMetrics();
  const host = { server: new Server('local', store, encoding), serves: false };
  const passthrough = { isOn: false };
  const refreshed: string[] = [];
  const directory: PeerDirectory = {
    snapshot: () => {
      const peers = servers.map(({ peer }) => peer);
      return { peers, departed: [], capable: () => peers, unread: [], departedWith: () => undefined } as PeerTable;
    },
    onChange: () => () => {},
    synced: () => true,
    refresh: async ({ identity }) => {
      refreshed.push(identity);
      const server = servers.find((each) => each.identity === identity)!;
      if (!server.up) server.usable = false;
    },
  };
  const rerouter = new Rerouter({
    dispatch: ({ peer }, exchange) => servers.find((each) => each.identity === peer.identity)!.answer(exchange),
    directory,
    attemptsMax: 3,
    metrics,
    logger: silentLogger,
  });
  const handler = createRouter({
    host: { handle: (exchange) => host.server.answer(exchange), ready: () => true, readsBodies: false },
    refreshLocal: async () => {},
    localSurface: () =>
      host.serves
        ? ({
            resources: new Map([
              ['scheduling.k8s.io/v1alpha2/podgroups', { verbs: new Set(['watch']), subresources: new Map() }],
            ]),
          } as never)
        : undefined,
    directory,
    rerouter,
    rerouteUnknownOptions: true,
    mayContinue: () => !passthrough.isOn,
    metrics,
    clock,
    logger: silentLogger,
  });

  async function watch(target = FROM_99, headers: string[] = ['Authorization', 'Bearer t']) {
    const connection = { remoteAddress: '127.0.0.1', certificateChain: [] };
    const exchange = new Exchange({ method: 'GET', target, headers, body: null, connection }, clock.nowMs());
    exchange.info = parseRequestInfo('GET', target)!;
    exchange.identity = { kind: 'carried', flow: 'someone', proven: true };
    const reply = await handler(exchange);
    return { exchange, reply, client: new Client(reply.body as BodyStream, encoding) };
  }
  const outcomes = () =>
    [...metrics.registry.render().matchAll(/straddle_watch_continuations_total\{outcome="(.+)"\} (\d+)/g)].map(
      ([, outcome, count]) => `${outcome} ${count}`,
    );
  return { store, servers, b: servers[0]!, c: servers[1]!, clock, host, passthrough, refreshed, watch, outcomes };
}

const query = (exchange: Exchange | undefined) => new URL(exchange!.target, 'http://x').searchParams;

describe.each(WATCH_ENCODINGS)('a rerouted watch in $name', (encoding) => {
  it('continues at another peer from the last event, for the same caller, with the rest of its timeout', async () => {
    const { store, b, c, clock, watch, outcomes } = setup({ encoding });
    const { exchange, client } = await watch();
    store.add();
    store.add('MODIFIED');
    await clock.advance(20_500);
    b.kill();
    store.add('DELETED');
    await settle();
    store.add();

    expect(client.versions).toEqual([100, 101, 102, 103]);
    expect(client.outcome).toBe('open');
    expect(c.asked[0]!.target).toBe(
      '/apis/scheduling.k8s.io/v1alpha2/podgroups?watch=1&resourceVersion=101&timeoutSeconds=280',
    );
    expect(c.asked[0]!.headers).toBe(exchange.headers);
    expect(c.asked[0]!.identity).toBe(exchange.identity);
    expect(c.asked[0]!.info).toEqual(exchange.info);
    expect(outcomes()).toEqual(['continued 1']);
  });

  it('drops an incomplete event and gets it from the next server', async () => {
    const { store, b, watch } = setup({ encoding });
    const { client } = await watch();
    store.add();
    b.stream.writePart({ resourceVersion: 101, type: 'ADDED' }, 30);
    b.kill();
    store.add();
    await settle();
    expect(client.versions).toEqual([100, 101]);
  });

  it('continues at the local server if that serves the resource by then', async () => {
    const { store, b, host, watch } = setup({ encoding, identities: ['b'] });
    const { client } = await watch();
    store.add();
    host.serves = true;
    b.kill();
    store.add();
    await settle();
    expect(client.versions).toEqual([100, 101]);
    expect(host.server.asked).toHaveLength(1);
  });

  it('continues again when the next server is killed too', async () => {
    const { store, b, c, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    store.add();
    b.kill();
    await settle();
    store.add();
    b.up = true;
    b.usable = true;
    c.kill();
    store.add();
    await settle();
    expect(client.versions).toEqual([100, 101, 102]);
    expect(outcomes()).toEqual(['continued 2']);
  });

  it('goes on after a switch to passthrough, and ends in order when its server is killed', async () => {
    const { store, b, c, host, passthrough, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    store.add();
    passthrough.isOn = true;
    store.add();
    expect(client.versions).toEqual([100, 101]);
    expect(client.outcome).toBe('open');
    b.kill();
    await settle();
    expect(client.outcome).toBe('ended');
    expect([...c.asked, ...host.server.asked]).toEqual([]);
    expect(outcomes()).toEqual(['switched-off 1']);
  });

  it('stops looking for a server at a switch to passthrough', async () => {
    const { b, c, clock, passthrough, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    c.up = false;
    b.kill();
    await settle();
    expect(client.outcome).toBe('open');
    passthrough.isOn = true;
    c.up = true;
    c.usable = true;
    await clock.advance(2_000);
    expect(client.outcome).toBe('ended');
    expect(outcomes()).toEqual(['switched-off 1']);
  });

  it('is requested again unchanged if no event was delivered', async () => {
    const { store, b, c, watch } = setup({ encoding });
    const { client } = await watch(`${FROM_STATE}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    b.kill();
    store.add();
    await settle();
    expect(client.versions).toEqual([100]);
    expect(query(c.asked[0]).get('sendInitialEvents')).toBe('true');
  });

  it('ends after its last whole event if its server is killed within the initial state, which has no order', async () => {
    const { store, b, c, watch, outcomes } = setup({ encoding });
    store.add();
    store.add();
    const { client } = await watch(FROM_STATE);
    b.stream.writePart({ resourceVersion: 102, type: 'ADDED' }, 33);
    b.kill();
    await settle();
    expect(client.outcome).toBe('ended');
    expect(client.versions).toEqual([100, 101]);
    expect(c.asked).toHaveLength(0);
    expect(outcomes()).toEqual(['unsafe 1']);
  });

  it('continues after the initial state once a bookmark was delivered', async () => {
    const { store, b, c, watch } = setup({ encoding });
    store.add();
    const { client } = await watch(FROM_STATE);
    store.add('BOOKMARK');
    b.kill();
    await settle();
    store.add();
    expect(client.versions).toEqual([100, 101, 102]);
    expect(query(c.asked[0]).get('resourceVersion')).toBe('101');
    expect(query(c.asked[0]).get('allowWatchBookmarks')).toBe('true');
  });

  it('continues after the bookmark that ends sendInitialEvents, without requesting the state again', async () => {
    const { store, b, c, watch } = setup({ encoding });
    store.add();
    const { client } = await watch(`${FROM_STATE}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    store.add('BOOKMARK', true);
    store.add('MODIFIED');
    b.kill();
    store.add();
    await settle();
    expect(client.versions).toEqual([100, 101, 102, 103]);
    expect(query(c.asked[0]).get('resourceVersion')).toBe('102');
    expect(query(c.asked[0]).get('sendInitialEvents')).toBeNull();
    expect(query(c.asked[0]).get('resourceVersionMatch')).toBeNull();
  });

  it('ends after its last whole event before the bookmark that ends sendInitialEvents', async () => {
    const { store, b, c, watch, outcomes } = setup({ encoding });
    store.add();
    const { client } = await watch(`${FROM_STATE}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    store.add('BOOKMARK');
    b.kill();
    await settle();
    expect(client.outcome).toBe('ended');
    expect(client.versions).toEqual([100, 101]);
    expect(c.asked).toHaveLength(0);
    expect(outcomes()).toEqual(['unsafe 1']);
  });

  it('is requested without compression for its continuation, also from the local server', async () => {
    const { store, b, host, watch } = setup({ encoding, identities: ['b'] });
    const { client } = await watch(FROM_99, ['Authorization', 'Bearer t', 'Accept-Encoding', 'gzip']);
    store.add();
    host.serves = true;
    b.kill();
    store.add();
    await settle();
    expect(client.versions).toEqual([100, 101]);
    expect(host.server.asked[0]!.headers).toEqual(['Authorization', 'Bearer t', 'Accept-Encoding', 'identity']);
  });

  it('ends cleanly when the next server sends events in another encoding', async () => {
    const { store, b, c, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    store.add();
    c.encoding = encoding === JSON_WATCH ? PROTOBUF_WATCH : JSON_WATCH;
    b.kill();
    store.add();
    await settle();
    expect(client.outcome).toBe('ended');
    expect(client.versions).toEqual([100]);
    expect(c.stream.cancelled).toBe(true);
    expect(outcomes()).toEqual(['refused 1']);
  });

  it('is passed on unchanged and then cut if its server compresses it all the same', async () => {
    const { b, c, watch, outcomes } = setup({ encoding });
    const answer = b.answer.bind(b);
    b.answer = async (exchange) => {
      const reply = await answer(exchange);
      return { ...reply, headers: [...reply.headers, 'Content-Encoding', 'gzip'] };
    };
    const { client } = await watch();
    const compressed = gzipSync(encoding.encode(sent({ resourceVersion: 100, type: 'ADDED' })));
    b.stream.write(compressed);
    b.kill();
    await settle();
    expect(client.bytes).toEqual(compressed);
    expect(client.outcome).toBe('cut');
    expect(c.asked).toHaveLength(0);
    expect(outcomes()).toEqual([]);
  });

  it('is passed on unchanged and then cut if its events have an unknown encoding', async () => {
    const { b, c, watch } = setup({ encoding: { ...encoding, contentType: 'application/yaml;stream=watch' } });
    const { client } = await watch();
    b.stream.write(Buffer.from('type: ADDED\n'));
    b.kill();
    await settle();
    expect(client.bytes.toString()).toBe('type: ADDED\n');
    expect(client.outcome).toBe('cut');
    expect(c.asked).toHaveLength(0);
  });

  it('is cut if it breaks within an event that is too large to be held back', async () => {
    const { b, c, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    const metadata = { name: 'large', resourceVersion: '100' };
    const large = encoding.encode({ type: 'ADDED', object: { metadata, spec: 'x'.repeat(EVENT_BYTES_MAX) } });
    b.stream.write(large.subarray(0, -1));
    expect(client.bytes.length).toBe(large.length - 1);
    b.kill();
    await settle();
    expect(client.outcome).toBe('cut');
    expect(c.asked).toHaveLength(0);
    expect(outcomes()).toEqual(['cut 1']);
  });

  it.each([410, 403, 404, 400])('ends cleanly when the next server answers %i', async (status) => {
    const { store, b, c, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    store.add();
    c.refusal = status;
    b.kill();
    await settle();
    expect(client.outcome).toBe('ended');
    expect(client.versions).toEqual([100]);
    expect(outcomes()).toEqual(['refused 1']);
  });

  it('ends cleanly after an ERROR event', async () => {
    const { b, c, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    const error = encoding.encode({ type: 'ERROR', object: { kind: 'Status' } });
    b.stream.write(error);
    b.kill();
    await settle();
    expect(client.outcome).toBe('ended');
    expect(client.bytes).toEqual(error);
    expect(c.asked).toHaveLength(0);
    expect(outcomes()).toEqual(['finished 1']);
  });

  it('waits a bounded time for a server that can continue it', async () => {
    const { store, b, clock, watch } = setup({ encoding, identities: ['b'] });
    const { client } = await watch();
    store.add();
    b.kill();
    await clock.advance(2_000);
    expect(client.outcome).toBe('open');
    store.add();
    b.up = true;
    b.usable = true;
    await clock.advance(1_500);
    expect(client.versions).toEqual([100, 101]);
  });

  it.each([
    ['answers', (server: Server) => server.kill()],
    [
      'is ready',
      (server: Server) => {
        server.refusal = 429;
        server.stream.die();
      },
    ],
    [
      'begins to answer',
      (server: Server) => {
        server.hangs = true;
        server.stream.die();
      },
    ],
  ])('ends cleanly when no server %s in time', async (_, breakIt) => {
    const { store, b, clock, watch, outcomes } = setup({ encoding, identities: ['b'] });
    const { client } = await watch();
    store.add();
    breakIt(b);
    await clock.advance(8_000);
    expect(client.outcome).toBe('open');
    await clock.advance(5_000);
    expect(client.outcome).toBe('ended');
    expect(outcomes()).toEqual(['unavailable 1']);
    expect(clock.pending).toBe(0);
  });

  it('ends cleanly when it breaks too often', async () => {
    const { store, b, watch, outcomes } = setup({ encoding, identities: ['b'] });
    const { client } = await watch();
    store.add();
    for (let i = 0; i < 11; i++) {
      b.stream.die();
      await settle();
    }
    expect(client.outcome).toBe('ended');
    expect(outcomes()).toEqual(['continued 10', 'too-often 1']);
  });

  it('ends when its server ends it and is still ready', async () => {
    const { store, b, c, refreshed, watch, outcomes } = setup({ encoding });
    const { client } = await watch();
    store.add();
    b.stream.writePart({ resourceVersion: 101, type: 'ADDED' }, 30);
    b.stream.finish();
    await settle();
    expect(refreshed).toEqual(['b']);
    expect(client.outcome).toBe('ended');
    expect(client.bytes.length).toBe(encoding.encode(sent(store.events[0]!)).length + 30);
    expect(c.asked).toHaveLength(0);
    expect(outcomes()).toEqual([]);
  });

  it('continues when its server ends it because of a shutdown', async () => {
    const { store, b, watch } = setup({ encoding });
    const { client } = await watch();
    store.add();
    b.up = false;
    b.stream.finish();
    store.add();
    await settle();
    expect(client.versions).toEqual([100, 101]);
    expect(client.outcome).toBe('open');
  });

  it('ends at once when its timeout is over, whatever the state of its server', async () => {
    const { b, c, clock, refreshed, watch } = setup({ encoding });
    const { client } = await watch();
    await clock.advance(300_000);
    b.up = false;
    b.stream.finish();
    expect(client.outcome).toBe('ended');
    expect(refreshed).toEqual([]);
    expect(c.asked).toHaveLength(0);
  });

  it('applies back-pressure to its server while the client is slow, also to the next server', async () => {
    const { store, b, c, watch } = setup({ encoding });
    const { client } = await watch();
    client.slow = true;
    for (let i = 0; i < 50; i++) store.add();
    expect(client.versions).toEqual([100]);
    expect(b.stream.waitingBytes).toBeGreaterThan(0);
    b.kill();
    await settle();
    // More than is kept of a body that nobody reads yet.
    for (let i = 0; i < 1_000; i++) store.add();
    expect(client.versions).toEqual([100]);
    c.chunkBytes = () => 100;
    expect(c.stream.pauses).toBe(1);
    client.slow = false;
    client.body.resume();
    expect(client.versions).toEqual(store.events.map(({ resourceVersion }) => resourceVersion));
  });

  it('is cancelled at its server when the client disconnects, before and after a continuation', async () => {
    const { b, c, watch } = setup({ encoding });
    const first = await watch();
    first.client.body.cancel(new Error('left'));
    expect(b.stream.cancelled).toBe(true);
    const second = await watch();
    b.kill();
    await settle();
    second.client.body.cancel(new Error('left'));
    expect(c.stream.cancelled).toBe(true);
  });

  it('is not continued if the client disconnects meanwhile', async () => {
    const { store, b, c, clock, watch } = setup({ encoding });
    const { exchange, client } = await watch();
    store.add();
    c.hangs = true;
    b.kill();
    await settle();
    client.body.cancel(new Error('left'));
    exchange.abort();
    await settle();
    expect(c.asked[0]!.aborted).toBe(true);
    expect(c.asked).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('stops waiting for a server when the client disconnects', async () => {
    const { store, b, clock, watch } = setup({ encoding, identities: ['b'] });
    const { client } = await watch();
    store.add();
    b.kill();
    await clock.advance(300);
    client.body.cancel(new Error('left'));
    await settle();
    expect(clock.pending).toBe(0);
    expect(client.outcome).toBe('open');
  });

  it('reports no failure of its server when the client disconnects', async () => {
    const { b, watch } = setup({ encoding });
    const { exchange } = await watch();
    exchange.abort();
    b.stream.die();
    await settle();
    expect(b.reports).toEqual(['answered']);
  });

  it('delivers every event once and in order, wherever servers are killed and bytes are split', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant('add' as const) },
      { weight: 1, arbitrary: fc.constant('bookmark' as const) },
      { weight: 2, arbitrary: fc.constant('die' as const) },
      { weight: 2, arbitrary: fc.constant('slow' as const) },
      { weight: 2, arbitrary: fc.constant('fast' as const) },
      { weight: 2, arbitrary: fc.nat({ max: 80 }) },
    );
    const run = async (steps: (string | number)[], chunks: number[]) => {
      const { store, servers, watch } = setup({ encoding });
      let turn = 0;
      for (const server of servers) server.chunkBytes = () => chunks[turn++ % chunks.length]!;
      const { client } = await watch();
      let deaths = 0;
      for (const each of steps) {
        const serving = servers.find((server) => server.up && server.streams.length > 0 && server.usable)!;
        if (each === 'add') store.add();
        else if (each === 'bookmark') store.add('BOOKMARK');
        else if (each === 'slow') client.slow = true;
        else if (each === 'fast') {
          client.slow = false;
          client.body.resume();
        } else if (each === 'die') {
          if (++deaths > 10) continue;
          serving.stream.die();
          await settle(2);
        } else if (typeof each === 'number') {
          // Dies in the middle of an event.
          if (++deaths > 10) continue;
          const next = { resourceVersion: 100 + store.events.length, type: 'MODIFIED' };
          serving.stream.writePart(next, each);
          serving.stream.die();
          await settle(2);
        }
      }
      client.slow = false;
      client.body.resume();
      await settle(2);
      expect(client.outcome).toBe('open');
      expect(client.bytes.equals(Buffer.concat(store.events.map((each) => encoding.encode(sent(each)))))).toBe(true);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 }),
        run,
      ),
      { numRuns: 200 },
    );
  });
});
