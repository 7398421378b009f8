import { setTimeout as delay } from 'node:timers/promises';
import { makeClient, makeServer } from '../../src/http/tls/pki.fixture.js';
import { NEW, OLD, type Stage } from './stage.js';

/** Something that alerts are for, done to real Straddles. */
export interface Situation {
  readonly about: string;
  prepare(stage: Stage): Promise<void>;
  /** What is done after the page of that number. */
  readonly during?: Readonly<Record<number, (stage: Stage) => unknown>>;
  /** Keeps only these metrics in the recording, where others have hundreds of series. */
  readonly only?: readonly string[];
}

const DAY_MS = 86_400_000;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

async function three(stage: Stage): Promise<void> {
  await stage.add('a', OLD);
  await stage.add('b', NEW);
  await stage.add('c', NEW);
  await seeEachOther(stage);
}

/** The third one is a process of its own, which can be killed and stopped. */
async function threeAndProcess(stage: Stage): Promise<void> {
  await stage.add('a', OLD);
  await stage.add('b', NEW);
  await stage.addProcess('c', NEW);
  await seeEachOther(stage);
}

/** Until every Straddle uses all others; then each API server has a lease too, as a kube-apiserver has. */
async function seeEachOther(stage: Stage): Promise<void> {
  await stage.sees(stage.servers.size - 1);
  for (const [name, { api }] of stage.servers) putLease(stage, `apiserver-${name}`, name, `127.0.0.1:${api.port}`);
}

async function two(stage: Stage, flags: Readonly<Record<string, string>> = {}): Promise<void> {
  await stage.add('a', OLD, flags);
  await stage.add('b', NEW);
  await seeEachOther(stage);
}

function putLease(stage: Stage, name: string, hostname: string, address: string): void {
  stage.plane.storage.put(LEASES, {
    metadata: {
      name,
      labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': hostname },
      annotations: { 'kubernetes.io/peer-advertise-address': address },
    },
    spec: { renewTime: new Date().toISOString(), leaseDurationSeconds: 3_600 },
  });
}

/** Serving and front-proxy certificates that end in three days. */
function expiringFlags({ plane: { certificates } }: Stage): Record<string, string> {
  const notAfter = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 3 * DAY_MS);
  const serving = makeServer(certificates.ca, { dnsNames: ['kubernetes.default.svc', 'localhost'], notAfter });
  const frontProxy = makeClient(certificates.frontProxyCa, { cn: 'front-proxy-client', notAfter });
  return {
    'tls-cert-file': certificates.write('ending.crt', serving.pem),
    'tls-private-key-file': certificates.write('ending.key', serving.keyPem),
    'proxy-client-cert-file': certificates.write('ending-front-proxy.crt', frontProxy.pem),
    'proxy-client-key-file': certificates.write('ending-front-proxy.key', frontProxy.keyPem),
  };
}

/** By name; each has a recording and its expected alerts in alerts.ts. */
export const SITUATIONS: Readonly<Record<string, Situation>> = {
  normal: { about: 'Three Straddles under a light load; nothing happens.', prepare: three },
  'peer-killed': {
    about: 'Of three servers, c and its Straddle are gone from page 8 to page 30.',
    prepare: threeAndProcess,
    during: {
      8: async (stage) => {
        await stage.server('c').stop();
        await stage.server('c').api.stop();
      },
      30: async (stage) => {
        await stage.server('c').api.start();
        await stage.restartProcess('c');
      },
    },
  },
  'only-server-gone': {
    about: 'From page 8 on, b and its Straddle are gone, the only server of podgroups, which clients of a ask for.',
    prepare: (stage) => two(stage),
    during: {
      8: async (stage) => {
        await stage.server('b').stop();
        await stage.server('b').api.stop();
      },
    },
  },
  'local-server-down': {
    about: 'From page 8 on, the API server behind a is gone; a runs.',
    prepare: three,
    during: { 8: (stage) => stage.server('a').api.stop() },
  },
  'straddle-stopped': {
    about: 'The Straddle c is stopped (SIGSTOP) after page 8 and continues after page 30; its API server runs.',
    prepare: threeAndProcess,
    during: {
      8: (stage) => stage.processOf('c').signal('SIGSTOP'),
      30: (stage) => stage.processOf('c').signal('SIGCONT'),
    },
  },
  passthrough: {
    about: 'Passthrough is on at a from page 8 to page 30.',
    prepare: three,
    during: {
      8: (stage) => switchPassthrough(stage, true),
      30: (stage) => switchPassthrough(stage, false),
    },
  },
  'discovery-unreadable': {
    about: 'From page 8 on, the API server b answers with discovery that cannot be read.',
    prepare: (stage) => two(stage),
    during: {
      8: (stage) => {
        stage.server('b').api.mode = 'garbage';
      },
    },
  },
  'peer-hangs': {
    about: 'From page 8 on, the API server b takes requests and answers none; its Straddle is gone.',
    prepare: (stage) => two(stage),
    during: {
      8: async (stage) => {
        await stage.server('b').stop();
        stage.server('b').api.mode = 'hung';
      },
    },
  },
  'peer-resets': {
    about: 'From page 8 on, the API server b answers for its discovery and cuts the connection of every other request.',
    prepare: (stage) => two(stage),
    during: {
      8: (stage) => {
        stage.clients = 6;
        stage.server('b').api.mode = 'resetting';
      },
    },
  },
  'gate-off': {
    about: 'Straddle a runs with its feature gate off, b without --peer-ca-file.',
    prepare: async (stage) => {
      await stage.add('a', OLD, {
        'feature-gates': 'UnknownVersionInteroperabilityProxy=false',
        'peer-ca-file': '',
      });
      await stage.add('b', NEW, { 'peer-ca-file': '' });
    },
  },
  'lease-conflict': {
    about: 'From page 4 on, two leases of other host names claim one address at which nobody answers.',
    prepare: (stage) => two(stage),
    during: {
      4: (stage) => {
        putLease(stage, 'apiserver-x', 'x', '127.0.0.1:1');
        putLease(stage, 'apiserver-y', 'y', '127.0.0.1:1');
      },
    },
  },
  'too-many-servers': {
    about: 'From page 4 on, 300 leases name servers that do not exist.',
    only: ['straddle_peers_left_out'],
    prepare: (stage) => two(stage),
    during: {
      4: (stage) => {
        for (let i = 1; i <= 300; i++) putLease(stage, `apiserver-${i}`, `ghost-${i}`, `127.0.0.1:${i}`);
      },
    },
  },
  'certificates-expire': {
    about: 'Serving and front-proxy certificate of a end in three days.',
    prepare: (stage) => two(stage, expiringFlags(stage)),
  },
  'limit-reached': {
    about:
      'Straddle a takes one request at a time and queues one; from page 8 on, 30 clients ask for each path at once.',
    prepare: (stage) => two(stage, { 'max-requests-in-flight': '1', 'max-queued-requests': '1', 'queue-wait': '50ms' }),
    during: {
      8: (stage) => {
        stage.clients = 30;
      },
    },
  },
  workers: {
    about: 'Straddle a has two workers, of which one is killed after page 8.',
    prepare: async (stage) => {
      await stage.addProcess('a', OLD, { workers: '2' });
      await stage.add('b', NEW);
      await seeEachOther(stage);
    },
    during: { 8: (stage) => process.kill([...stage.processOf('a').workers().values()][0]!, 'SIGKILL') },
  },
  restarts: {
    about: 'Straddle a is killed and started again after the pages 6, 14, 22 and 30.',
    prepare: async (stage) => {
      await stage.addProcess('a', OLD);
      await stage.add('b', NEW);
      await seeEachOther(stage);
    },
    during: Object.fromEntries([6, 14, 22, 30].map((page) => [page, (stage: Stage) => stage.restartProcess('a')])),
  },
  slow: {
    about: 'From page 8 on, the process of Straddle c gets no CPU for most of a second, again and again.',
    prepare: threeAndProcess,
    during: Object.fromEntries(Array.from({ length: 32 }, (_, i) => [8 + i, pauseProcess])),
  },
  'few-files': {
    about: 'From page 8 on, Straddle a may have two open files more than it has.',
    prepare: async (stage) => {
      await stage.addProcess('a', OLD);
      await stage.add('b', NEW);
      await seeEachOther(stage);
    },
    during: {
      8: async (stage) => {
        const open = /^process_open_fds (\d+)$/m.exec((await stage.scrape()).get('a') ?? '')?.[1];
        stage.limitFiles('a', Number(open) + 2);
      },
    },
  },
};

async function pauseProcess(stage: Stage): Promise<void> {
  stage.processOf('c').signal('SIGSTOP');
  await delay(900);
  stage.processOf('c').signal('SIGCONT');
}

async function switchPassthrough(stage: Stage, on: boolean): Promise<void> {
  const headers = { Authorization: 'Bearer alice-token' };
  const { status } = await stage.ask('a', '/straddle/passthrough', { method: 'POST', headers, body: { on } });
  if (status !== 200) throw new Error(`the switch answered ${status}`);
}
