import { type ClientHttp2Session, connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from './certificates.js';
import { AGGREGATED, eventually, proxyFlags } from './control-plane.js';
import { COMMON, FakeApiServer } from './fake-apiserver.js';
import { ask, watch } from './https-client.js';
import { SharedStorage } from './shared-storage.js';
import { isAlive, START_MS_MAX, StraddleProcess } from './straddle-process.js';

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const ALL = 'create delete get list patch update watch';
const AS = { authorization: 'Bearer alice-token' };

interface H2Answer {
  readonly status: number;
  readonly text: string;
}

/** One HTTP/2 connection that stays: all its requests are one worker's. */
class Session {
  readonly #session: ClientHttp2Session;
  isOpen = true;

  constructor(port: number, ca: string) {
    this.#session = connect(`https://127.0.0.1:${port}`, { ca });
    this.#session.on('error', () => {});
    this.#session.on('close', () => {
      this.isOpen = false;
    });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<H2Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ':path': path, ...AS, ...headers });
      let status = 0;
      const chunks: Buffer[] = [];
      stream.on('response', (head) => {
        status = Number(head[':status']);
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
      stream.end();
    });
  }

  close(): void {
    this.#session.destroy();
  }
}

function sample(page: string, name: string): number {
  const line = page.split('\n').find((each) => each.startsWith(name) && !each.startsWith('#'));
  return line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf(' ') + 1));
}

let certificates: Certificates;
let storage: SharedStorage;
let local: FakeApiServer;
let peer: FakeApiServer;
let straddle: StraddleProcess;
let port: number;
const sessions: Session[] = [];

const where = () => ({ port, ca: certificates.ca.pem });

async function start(flags: Record<string, string> = {}): Promise<void> {
  certificates = makeCertificates();
  storage = new SharedStorage();
  local = new FakeApiServer(certificates, storage, COMMON);
  peer = new FakeApiServer(certificates, storage, { ...COMMON, 'example.com/v1/widgets': ALL });
  await Promise.all([local.start(), peer.start()]);
  straddle = new StraddleProcess({
    ...proxyFlags(certificates, 'a', local, { workers: '2', peer: `https://127.0.0.1:${peer.port}`, ...flags }),
  });
  port = await straddle.port();
}

/** Two connections for each of the two workers. */
async function openSessions(): Promise<Session[]> {
  for (let i = 0; i < 4; i++) {
    const session = new Session(port, certificates.ca.pem);
    sessions.push(session);
    await session.get('/readyz');
  }
  return sessions;
}

async function stop(): Promise<void> {
  for (const session of sessions.splice(0)) session.close();
  if (straddle && isAlive(straddle.pid)) {
    straddle.signal('SIGTERM');
    await straddle.exit;
  }
  await Promise.all([local.stop(), peer.stop()]);
  certificates.remove();
}

describe('two workers behind one port', () => {
  beforeAll(async () => {
    await start();
    await openSessions();
    await eventually(
      'every worker being ready',
      () => Promise.all(sessions.map(async (session) => (await session.get('/readyz')).status)),
      (all) => all.every((status) => status === 200),
    );
  }, 90_000);
  afterAll(stop, 30_000);

  it('share connections evenly', async () => {
    const { text } = await sessions[0]!.get('/metrics');
    expect(sample(text, 'straddle_worker_connections{worker="1"}')).toBe(2);
    expect(sample(text, 'straddle_worker_connections{worker="2"}')).toBe(2);
    expect(sample(text, 'straddle_worker_restarts_total')).toBe(0);
  });

  it('serve every connection, over HTTP/1.1 too, from the local server and from a peer', async () => {
    storage.put(WIDGETS, { metadata: { name: 'w', namespace: 'default' } });
    for (const session of sessions) {
      expect((await session.get('/api/v1/namespaces/default/configmaps')).status).toBe(200);
      expect(JSON.parse((await session.get(`${WIDGETS}/w`)).text)).toMatchObject({ metadata: { name: 'w' } });
    }
    const as = certificates.user('bob', 'devs');
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(where(), `${WIDGETS}/w`, { as })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(peer.seen('GET', `${WIDGETS}/w`).at(-1)).toMatchObject({ user: 'bob' });
  });

  it('forward upgraded connections', async () => {
    const echoed = await new Promise<string>((resolve, reject) => {
      const socket = connectTls({ host: '127.0.0.1', ...where(), ALPNProtocols: ['http/1.1'] }, () => {
        socket.write(
          'POST /api/v1/namespaces/default/pods/p/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n' +
            'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
        );
      });
      let text = '';
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text.endsWith('\r\n\r\n')) socket.write('ping');
        if (text.endsWith('ping')) {
          socket.destroy();
          resolve(text);
        }
      });
    });
    expect(echoed).toContain('101 Switching Protocols');
  });

  it('share one read of discovery, and all show a change', async () => {
    // Only reads by Straddle count: clients ask for discovery too, as other users.
    const read = () => [local, peer].map((api) => api.documentsSentTo.filter((to) => to === 'system:straddle').length);
    await eventually('both servers being read', read, ([a, b]) => a! > 1 && b! > 1);
    expect(read()).toEqual([2, 2]);
    peer.served = { ...peer.served, 'example.com/v1/gadgets': ALL };
    local.served = { ...local.served, 'local.example.com/v1/things': ALL };
    await eventually(
      'the new resources showing on every connection',
      () => Promise.all(sessions.map(async (each) => (await each.get('/apis', { accept: AGGREGATED })).text)),
      (pages) => pages.every((page) => page.includes('"gadgets"') && page.includes('"things"')),
      5_000,
    );
    expect(read()).toEqual([3, 3]);
    const reads = local.requests.filter(({ url, headers }) => url === '/apis' && !headers['if-none-match']);
    expect(reads.filter(({ user }) => user === 'system:straddle')).toHaveLength(1);
    for (const session of sessions)
      expect((await session.get('/apis/example.com/v1/namespaces/default/gadgets')).status).toBe(200);
  });

  it('renew one lease together', async () => {
    const leasesOfServer = await eventually(
      'the lease',
      () => storage.list(LEASES).filter(({ metadata }) => metadata.labels?.['kubernetes.io/hostname'] === 'a'),
      (leases) => leases.length > 0,
    );
    expect(leasesOfServer).toHaveLength(1);
    expect(leasesOfServer[0]!.metadata).toHaveProperty(
      ['annotations', 'kubernetes.io/peer-advertise-address'],
      `127.0.0.1:${port}`,
    );
    expect(local.seen('POST', LEASES)).toHaveLength(1);
  });

  it('show the same page of metrics in every worker', async () => {
    const name = 'apiserver_request_total{verb="list",group="",version="v1",resource="pods",subresource="",code="200"}';
    const listed = 'apiserver_request_duration_seconds_count{verb="list"}';
    const before = (await sessions[0]!.get('/metrics')).text;
    for (const session of sessions) for (let i = 0; i < 5; i++) await session.get('/api/v1/namespaces/default/pods');
    const pages = await Promise.all(sessions.map(async (session) => (await session.get('/metrics')).text));
    for (const page of pages) {
      expect(sample(page, name)).toBe(20);
      expect(sample(page, listed) - sample(before, listed)).toBe(20);
      expect(sample(page, 'straddle_host_ready')).toBe(1);
      expect(sample(page, `straddle_peer_usable{peer="127.0.0.1:${peer.port}"`)).toBe(1);
      expect(sample(page, 'kubernetes_feature_enabled')).toBe(1);
      expect(page.match(/^# TYPE apiserver_request_total /gm)).toHaveLength(1);
    }
  });

  it('all reply 503 for resources of a departed server, and 404 after straddle forget', async () => {
    await peer.stop();
    const codes = () => Promise.all(sessions.map(async (session) => (await session.get(WIDGETS)).status));
    await eventually('503 on every connection', codes, (all) => all.every((status) => status === 503));
    await eventually(
      'the departure in the metrics',
      async () => sample((await sessions[0]!.get('/metrics')).text, 'straddle_departed_servers'),
      (departed) => departed === 1,
    );
    storage.put(LEASES, {
      metadata: { name: 'straddle-forget-x', labels: { 'apiserver.kubernetes.io/identity': 'straddle-forget' } },
      spec: {
        holderIdentity: `127.0.0.1:${peer.port}`,
        leaseDurationSeconds: 3600,
        renewTime: new Date(Date.now() + 1_000).toISOString(),
      },
    } as never);
    await eventually('404 on every connection', codes, (all) => all.every((status) => status === 404));
    await peer.start();
    await eventually('the peer being back for all', codes, (all) => all.every((status) => status === 200));
  });

  it('continue when the local server has another version after a restart', async () => {
    await local.stop();
    const codes = () =>
      Promise.all(sessions.map(async (each) => (await each.get('/apis/late.example.com/v1/namespaces/d/x')).status));
    local.served = { ...COMMON, 'late.example.com/v1/x': ALL };
    local.version = 'v1.37.0';
    expect(await codes()).not.toContain(200);
    await local.start();
    await eventually('the new resource on every connection', codes, (all) => all.every((status) => status === 200));
  });

  it('lose only the connections of a killed worker, which is replaced', async () => {
    const lost = straddle.workers().get(2)!;
    const before = sample(
      (await sessions[0]!.get('/metrics')).text,
      'apiserver_request_duration_seconds_count{verb="list"}',
    );
    let isOver = false;
    const loads = sessions.map(async (session) => {
      const answers: (number | string)[] = [];
      while (!isOver && session.isOpen) {
        answers.push(
          await session.get('/api/v1/namespaces/default/pods').then(
            ({ status }) => status,
            (error: Error) => error.message,
          ),
        );
      }
      return answers;
    });
    process.kill(lost, 'SIGKILL');
    await eventually(
      'two connections ending',
      () => sessions.filter(({ isOpen }) => !isOpen).length,
      (n) => n === 2,
    );
    const left = sessions.filter(({ isOpen }) => isOpen);
    expect(left).toHaveLength(2);
    expect((await ask(where(), '/readyz')).status).toBe(200);
    await eventually(
      'another worker',
      () => straddle.workers().get(2),
      (pid) => pid !== lost,
      START_MS_MAX,
    );
    isOver = true;
    const answered = await Promise.all(loads);
    for (const session of left) expect(new Set(answered[sessions.indexOf(session)])).toEqual(new Set([200]));
    expect(straddle.log.find(({ msg }) => msg.startsWith('a worker ended'))).toMatchObject({ why: 'signal SIGKILL' });
    const fresh = [new Session(port, certificates.ca.pem), new Session(port, certificates.ca.pem)];
    sessions.push(...fresh);
    for (const session of fresh) expect((await session.get(WIDGETS)).status).toBe(200);
    const page = (await fresh[0]!.get('/metrics')).text;
    expect(sample(page, 'straddle_worker_restarts_total')).toBe(1);
    expect(sample(page, 'straddle_worker_connections{worker="2"}')).toBe(2);
    expect(sample(page, 'apiserver_request_duration_seconds_count{verb="list"}')).toBeGreaterThan(before);
  }, 90_000);

  it('drain at a stop and leave no process behind', async () => {
    const watches = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const opened = watch(where(), '/api/v1/namespaces/default/configmaps?watch=1', certificates.user('bob'));
        await opened.opened;
        return opened;
      }),
    );
    const pids = [...straddle.workers().values()];
    straddle.signal('SIGTERM');
    expect(await straddle.exit).toBe(0);
    expect(await Promise.all(watches.map(({ ended }) => ended))).toEqual([true, true, true, true]);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(straddle.log.at(-1)).toMatchObject({ msg: 'stopped' });
    expect(storage.list(LEASES).filter(({ metadata }) => metadata.labels?.['kubernetes.io/hostname'] === 'a')).toEqual(
      [],
    );
  });
});

describe('a group of workers', () => {
  afterEach(stop, 30_000);

  it('ends when its head is killed', async () => {
    await start();
    const pids = [...straddle.workers().values()];
    expect(pids).toHaveLength(2);
    process.kill(straddle.pid, 'SIGKILL');
    await eventually(
      'the workers ending',
      () => pids.filter(isAlive),
      (alive) => alive.length === 0,
    );
  }, 90_000);

  it('logs once why it cannot start', async () => {
    await start();
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const inUse = (taken.address() as AddressInfo).port;
    const flags = proxyFlags(certificates, 'b', local, { workers: '2', 'secure-port': String(inUse) });
    const second = new StraddleProcess(flags);
    expect(await second.exit).toBe(1);
    taken.close();
    expect(second.said).toEqual([
      `straddle: 127.0.0.1:${inUse} is in use by another process; stop it, or choose another --secure-port.`,
    ]);
    const third = new StraddleProcess({ ...flags, 'secure-port': '0', 'tls-cert-file': certificates.file('none.crt') });
    expect(await third.exit).toBe(1);
    expect(third.said).toHaveLength(1);
    expect(third.said[0]).toContain('none.crt');
  }, 90_000);
});
