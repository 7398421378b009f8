import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Credentials } from './ask.js';
import { inspectCheck } from './check-inspection.js';
import type { CheckReport } from './check-report.js';
import { FakePlane, type FakeServer } from './inspected-plane.fixture.js';
import type { ClientKubeconfig, LocalClients } from './traffic.js';

let plane: FakePlane;

beforeEach(() => {
  plane = new FakePlane();
});
afterEach(() => plane.close());

/** The kube-apiservers first, then a Straddle before each, at other addresses. */
async function startWithStraddles(own: Partial<FakeServer> = {}): Promise<void> {
  await plane.start(...['raw-a', 'raw-b'].map((name): FakeServer => ({ name, kind: 'plain', lease: false, ...own })));
  const [first, second] = [plane.address('raw-a'), plane.address('raw-b')];
  await plane.start(
    { name: 'a', kind: 'straddle', annotations: { 'straddle.dev/upstream': first } },
    { name: 'b', kind: 'straddle', annotations: { 'straddle.dev/upstream': second } },
  );
}

const linesOf = ({ checks }: CheckReport, check: string) =>
  checks.filter((each) => each.check === check).map(({ server, verdict, detail }) => ({ server, verdict, detail }));

const mendOf = ({ checks }: CheckReport, check: string) => checks.find((each) => each.check === check)?.mend;

function file(
  component: ClientKubeconfig['component'],
  address: string,
  more: Partial<Credentials> = {},
): ClientKubeconfig {
  const [host] = address.split(':');
  const credentials = { ...plane.credentials, token: undefined, ...more };
  const path = `/etc/kubernetes/${component.replace('kube-', '')}.conf`;
  return { component, path, access: { url: `https://${address}`, serverName: host, credentials }, problem: undefined };
}

const onNode = (hostname: string, ...kubeconfigs: ClientKubeconfig[]): LocalClients => ({
  kubeconfigs,
  areGiven: false,
  hostname,
  addresses: [],
});

function mirrorPod(component: string, node: string, ...flags: string[]) {
  plane.pods.push({
    metadata: { name: `${component}-${node}`, labels: { component } },
    spec: { nodeName: node, containers: [{ command: [component, ...flags] }] },
  });
}

describe('straddle check of the ways of clients', () => {
  it('finds nothing wrong where every way leads to a Straddle', async () => {
    await startWithStraddles();
    plane.published.push('a', 'b');
    const address = plane.address('a');
    const clients = onNode(
      'A',
      ...(['kube-controller-manager', 'kube-scheduler', 'kubelet'] as const).map((each) => file(each, address)),
    );
    const report = await inspectCheck(plane.door('a'), undefined, clients);
    expect(report.verdict).toBe('ok');
    const ways = ['service', 'kubeconfig', 'controller-manager', 'scheduler', 'kubelet'];
    for (const way of ways) expect(linesOf(report, way).map(({ verdict }) => verdict)).toContain('ok');
    expect(report.checks.filter(({ check, verdict }) => ways.includes(check) && verdict !== 'ok')).toEqual([]);
    expect(linesOf(report, 'controller-manager')).toEqual([
      {
        server: 'a',
        verdict: 'ok',
        detail: `kube-controller-manager is sent to https://${address} by /etc/kubernetes/controller-manager.conf, where Straddle answers`,
      },
    ]);
  });

  it('finds that Service kubernetes publishes a kube-apiserver past its Straddle', async () => {
    await startWithStraddles();
    plane.published.push('a', 'raw-b');
    const report = await inspectCheck(plane.door('a'), undefined);
    const address = plane.address('raw-b');
    expect(linesOf(report, 'service')).toEqual([
      expect.objectContaining({ server: 'a', verdict: 'ok' }),
      {
        server: 'b',
        verdict: 'FAIL',
        detail: `pods that use Service kubernetes reach b past Straddle: ${address} is its kube-apiserver`,
      },
    ]);
    const mend = report.checks.find(({ server, check }) => server === 'b' && check === 'service')?.mend;
    expect(mend).toContain(`Give Straddle ${address}`);
    expect(mend).toContain('straddle install --kubeadm');
    expect(report.verdict).toBe('failed');
  });

  it('finds that Service kubernetes publishes an address at which nobody listens', async () => {
    await plane.start({ name: 'raw', kind: 'plain', lease: false, down: true });
    const refusing = plane.address('raw');
    await plane.start({
      name: 'a',
      kind: 'straddle',
      annotations: { 'straddle.dev/upstream': refusing, 'straddle.dev/upstream-listens': 'loopback' },
    });
    plane.published.push('raw');
    const report = await inspectCheck(plane.door('a'), undefined);
    expect(linesOf(report, 'service')).toEqual([
      expect.objectContaining({ verdict: 'FAIL', detail: expect.stringContaining(`nobody listens at ${refusing}`) }),
    ]);
    // As the Straddle says, its server is on loopback: that address is no fault of its own.
    expect(report.checks.filter(({ check }) => check === 'reachable')).toMatchObject([{ server: 'a', verdict: 'ok' }]);
  });

  it('finds components and a kubeconfig that bypass Straddle, a kubelet only with a warning', async () => {
    await startWithStraddles();
    plane.published.push('a', 'b');
    const raw = plane.address('raw-a');
    const clients = onNode(
      'a',
      file('kube-controller-manager', raw),
      file('kube-scheduler', raw),
      file('kubelet', raw),
    );
    const report = await inspectCheck(plane.door('raw-a'), undefined, clients);
    const detail = `controller-manager on a bypasses Straddle: /etc/kubernetes/controller-manager.conf leads to https://${raw}, where a kube-apiserver itself answers`;
    expect(linesOf(report, 'controller-manager')).toEqual([{ server: 'a', verdict: 'FAIL', detail }]);
    expect(mendOf(report, 'controller-manager')).toContain(
      `Write https://${plane.address('a')} into /etc/kubernetes/controller-manager.conf and restart`,
    );
    expect(linesOf(report, 'scheduler')).toMatchObject([{ verdict: 'FAIL' }]);
    expect(linesOf(report, 'kubelet')).toMatchObject([{ verdict: 'warn' }]);
    expect(linesOf(report, 'kubeconfig')).toMatchObject([
      {
        verdict: 'FAIL',
        detail: `this kubeconfig leads past Straddle: a kube-apiserver itself answers at https://${raw}`,
      },
    ]);
    expect(mendOf(report, 'kubeconfig')).toContain(`${plane.address('a')}, ${plane.address('b')}`);
  });

  it('lets kube-apiservers whose own proxy is on be reached without Straddle', async () => {
    await startWithStraddles({ kind: 'native' });
    plane.published.push('raw-a');
    const report = await inspectCheck(plane.door('a'), undefined);
    expect(linesOf(report, 'service')).toMatchObject([
      { verdict: 'ok', detail: expect.stringContaining('own proxy is on') },
    ]);
  });

  it('says unknown, and why, for components on other machines', async () => {
    await startWithStraddles();
    mirrorPod('kube-controller-manager', 'a', '--kubeconfig=/etc/kubernetes/controller-manager.conf');
    mirrorPod('kube-controller-manager', 'b', '--kubeconfig=/etc/kubernetes/controller-manager.conf');
    mirrorPod('kube-scheduler', 'b', `--master=https://${plane.address('raw-b')}`);
    const clients = onNode('a', file('kube-controller-manager', plane.address('a')));
    const report = await inspectCheck(plane.door('a'), undefined, clients);
    expect(linesOf(report, 'controller-manager')).toEqual([
      expect.objectContaining({ server: 'a', verdict: 'ok' }),
      {
        server: 'b',
        verdict: 'unknown',
        detail:
          'its pod names a file of that machine only, /etc/kubernetes/controller-manager.conf: run straddle check on b',
      },
    ]);
    expect(linesOf(report, 'scheduler')).toMatchObject([{ server: 'b', verdict: 'FAIL' }]);
    expect(report.checks.filter(({ server }) => server.includes('kube-'))).toEqual([]);
  });

  it('says unknown for a kubeconfig that cannot be read, and for a server that does not answer', async () => {
    await startWithStraddles();
    const unreadable: ClientKubeconfig = {
      ...file('kube-scheduler', plane.address('a')),
      access: undefined,
      problem: '/etc/kubernetes/scheduler.conf cannot be read (EACCES); run this as root',
    };
    const clients = onNode('a', file('kube-controller-manager', '127.0.0.60:9'), unreadable);
    const report = await inspectCheck(plane.door('a'), undefined, clients);
    expect(linesOf(report, 'controller-manager')).toMatchObject([
      { verdict: 'unknown', detail: expect.stringContaining('connection refused') },
    ]);
    expect(linesOf(report, 'scheduler')).toMatchObject([{ verdict: 'unknown', detail: unreadable.problem }]);
  });

  it('leaves out the kubeconfigs of a machine of another cluster, unless their folder was named', async () => {
    await startWithStraddles();
    const elsewhere = onNode('laptop', file('kube-controller-manager', plane.address('raw-a')));
    const report = await inspectCheck(plane.door('a'), undefined, elsewhere);
    expect(linesOf(report, 'controller-manager')).toMatchObject([{ server: '*', verdict: 'unknown' }]);
    const named = await inspectCheck(plane.door('a'), undefined, { ...elsewhere, areGiven: true });
    expect(linesOf(named, 'controller-manager')).toMatchObject([{ server: 'laptop', verdict: 'FAIL' }]);
  });

  it('shows no credentials where it asks who answers', async () => {
    await startWithStraddles();
    await plane.start({ name: 'other', kind: 'plain', lease: false });
    const clients = onNode('a', file('kube-controller-manager', plane.address('other'), { token: 'secret' }));
    const report = await inspectCheck(plane.door('a'), undefined, clients);
    expect(linesOf(report, 'controller-manager')).toMatchObject([{ verdict: 'FAIL' }]);
    expect(plane.trusted).not.toContain('other');
  });
});
