import { renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../compose/config/config-error.js';
import { kubeadmOutput } from '../tools/install/kubeadm-output.fixture.js';
import { FakeNode, OTHER_CA, VIRTUAL_ADDRESS } from '../tools/install/node.fixture.js';
import { INSTALL, install, JOURNAL, MANIFEST, PATCH, POD, run, uninstall } from './install-command.fixture.js';

const KUBE_VIP = `kind: Pod
spec: {containers: [{name: kube-vip, image: "ghcr.example/kube-vip:v1", env: [{name: cp_enable, value: "true"}]}]}
`;

function kubeconfig(server: string): string {
  return `kind: Config
current-context: admin
contexts: [{name: admin, context: {cluster: c}}]
clusters: [{name: c, cluster: {server: "${server}"}}]
`;
}

function linkManifest(node: FakeNode): void {
  const path = join(node.root, MANIFEST);
  renameSync(path, join(node.root, 'elsewhere.yaml'));
  symlinkSync('../../../elsewhere.yaml', path);
}

describe('straddle install --dry-run', () => {
  it('prints plan, checks and diffs, and writes nothing', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    const { out, error } = await install(node, '--dry-run');
    expect(error).toBeUndefined();
    expect(node.snapshot()).toEqual(before);
    expect(out).toContain('kube-apiserver v1.36.4 of this node, advertised at 10.0.0.1:6443');
    expect(out).toContain('  port 6443 of 10.0.0.100: nobody any more');
    expect(out).toContain('+    - --bind-address=127.0.0.1\n');
    expect(out).toContain('-        host: 10.0.0.1\n+        host: 127.0.0.1\n');
    expect(out).toContain(`--- /dev/null\n+++ ${POD}\n`);
    expect(out).not.toContain('FAIL');
  });

  it('also shows why an installation would be refused', async () => {
    const node = new FakeNode();
    node.faults.rightsMissing = true;
    const { out, error } = await install(node, '--dry-run');
    expect(error).toBeUndefined();
    expect(out).toContain('FAIL  rights: The user system:straddle lacks its rights (forbidden)');
  });
});

describe('straddle install', () => {
  it('changes the node so that kubeadm with the patches would write the same, and reports progress', async () => {
    const node = new FakeNode();
    const { out, error } = await install(node);
    expect(error).toBeUndefined();
    expect(node.read(MANIFEST)).toBe(kubeadmOutput('1.36-patched'));
    expect(node.read(PATCH)).toContain('--bind-address=127.0.0.1');
    expect(out).toMatch(/ {2}1s {2}the kube-apiserver at 127\.0\.0\.1:6443: connection refused/);
    expect(out).toContain('Straddle is ready at 10.0.0.1:6443, before the kube-apiserver at 127.0.0.1:6443.');
    expect(JSON.parse(node.read(JOURNAL))).toMatchObject({ state: 'installed' });
    expect(await node.ask({ host: '10.0.0.1', port: 6443 }, '/readyz')).toMatchObject({ isStraddle: true });
  });

  it('leaves the node as it was after uninstall, byte for byte', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    await install(node);
    const { out, error } = await uninstall(node);
    expect(error).toBeUndefined();
    expect(node.snapshot()).toEqual(before);
    expect(out).toContain('the kube-apiserver at 10.0.0.1:6443: kube-apiserver is ready');
  });

  it('is rolled back when Straddle does not become ready in time', async () => {
    const node = new FakeNode();
    node.faults.straddleNeverReady = true;
    const before = node.snapshot();
    const { error } = await install(node);
    expect(error?.message).toMatch(
      /rolled back, all files are as before: Straddle at 10\.0\.0\.1:6443 was not ready within 30 s: connection refused/,
    );
    expect(node.snapshot()).toEqual(before);
    expect(await node.ask({ host: '10.0.0.1', port: 6443 }, '/readyz')).toMatchObject({
      status: 200,
      isStraddle: false,
    });
  });

  it('is rolled back with the cause when the authority was replaced while it went on', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    const caBefore = before['etc/kubernetes/pki/ca.crt'];
    node.onDelay = () => {
      if (node.read(MANIFEST).includes('--bind-address=127.0.0.1')) node.write('/etc/kubernetes/pki/ca.crt', OTHER_CA);
    };
    const { error } = await install(node);
    expect(error?.message).toContain('rolled back, all files are as before: Straddle at 10.0.0.1:6443 was not ready');
    expect(error?.message).toContain('Straddle answers 503 ([-]api-server failed: nobody takes requests)');
    expect(error?.message).toContain(
      'Straddle cannot verify the kube-apiserver at 127.0.0.1:6443 with /etc/kubernetes/pki/ca.crt as it is now: certificate signed by unknown authority.',
    );
    expect({ ...node.snapshot(), 'etc/kubernetes/pki/ca.crt': caBefore }).toEqual(before);
  });

  it('is rolled back when the kubelet does not restart the kube-apiserver', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    node.faults.kubeletStopped = true;
    const { error } = await install(node);
    expect(error?.message).toMatch(
      /all files are as before: the kube-apiserver at 127\.0\.0\.1:6443 was not ready.*still listens at/,
    );
    expect(node.snapshot()).toEqual(before);
  });

  it('is rolled back at once by a second stop signal', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    const atExit: Record<string, string>[] = [];
    const { out } = await run(
      node,
      INSTALL,
      (stop) => {
        node.onDelay = () => {
          if (!node.has(POD)) return;
          stop();
          stop();
        };
      },
      () => atExit.push(node.snapshot()),
    );
    expect(atExit).toEqual([before]);
    expect(out).toContain('Stopped by a second signal: all files are restored');
  });

  it('names the files that a rollback could not make as before', async () => {
    const node = new FakeNode();
    node.faults.straddleNeverReady = true;
    node.onDelay = () => {
      if (node.has(POD)) node.write(MANIFEST, kubeadmOutput('1.37-patched'));
    };
    const { error } = await install(node);
    expect(error?.message).toContain(`rolled back, all files but ${MANIFEST} are as before: Straddle at`);
    expect(node.read(MANIFEST)).toBe(kubeadmOutput('1.37'));
  });

  it('is rolled back when the control-plane endpoint does not answer any more', async () => {
    const node = new FakeNode();
    node.write('/etc/kubernetes/admin.conf', kubeconfig(`https://${VIRTUAL_ADDRESS}:6443`));
    const before = node.snapshot();
    const { error } = await install(node);
    expect(error?.message).toContain(
      `all files are as before: the control-plane endpoint ${VIRTUAL_ADDRESS}:6443 was not ready within 30 s: connection refused`,
    );
    expect(node.snapshot()).toEqual(before);
  });

  it('goes on where the control-plane endpoint did not answer before either', async () => {
    const node = new FakeNode();
    node.write('/etc/kubernetes/admin.conf', kubeconfig('https://10.8.8.8:6443'));
    expect((await install(node)).error).toBeUndefined();
  });

  it('accepts a kube-vip that has addresses of Services only', async () => {
    const node = new FakeNode();
    node.write('/etc/kubernetes/manifests/kube-vip.yaml', KUBE_VIP.replace('"true"', '"false"'));
    expect((await install(node, '--dry-run')).out).not.toContain('static pods:');
  });

  it('warns where the container runtime does not say whether the image is there', async () => {
    const node = new FakeNode();
    node.faults.hasImage = undefined;
    expect((await install(node, '--dry-run')).out).toContain('warn  image: crictl does not say whether straddle:1 is');
  });

  it('is rolled back at a stop signal', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    const { error } = await run(node, INSTALL, (stop) => {
      node.onDelay = stop;
    });
    expect(error?.message).toContain('all files are as before: Stopped by a signal.');
    expect(node.snapshot()).toEqual(before);
  });

  it.each([
    [
      'certificates',
      (node: FakeNode) => unlinkSync(join(node.root, '/etc/kubernetes/pki/front-proxy-client.crt')),
      /front-proxy-client\.crt is missing/,
    ],
    [
      'another authority',
      (node: FakeNode) => node.write('/etc/kubernetes/pki/ca.crt', node.read('/etc/kubernetes/pki/front-proxy-ca.crt')),
      /apiserver\.crt was not issued by/,
    ],
    [
      'garbage for a certificate',
      (node: FakeNode) => node.write('/etc/kubernetes/pki/apiserver.crt', 'x'),
      /apiserver\.crt holds no certificate/,
    ],
    ['certificates that have expired', (node: FakeNode) => (node.nowMs += 200 * 365 * 86_400_000), /has expired/],
    [
      'missing rights',
      (node: FakeNode) => (node.faults.rightsMissing = true),
      /lacks its rights \(forbidden\): straddle rbac/,
    ],
    [
      'another folder of the kubelet',
      (node: FakeNode) => node.write('/var/lib/kubelet/config.yaml', 'staticPodPath: /other'),
      /--manifests-dir=\/other/,
    ],
    [
      'a virtual address',
      (node: FakeNode) => node.write('/etc/kubernetes/admin.conf', kubeconfig('https://10.0.0.100:6443')),
      /another address of this machine/,
    ],
    [
      'a name of a virtual address',
      (node: FakeNode) => node.write('/etc/kubernetes/admin.conf', kubeconfig('https://vip.example:6443')),
      /vip\.example:6443, which leads to 10\.0\.0\.100, another address of this machine/,
    ],
    [
      'kube-vip',
      (node: FakeNode) => node.write('/etc/kubernetes/manifests/kube-vip.yaml', KUBE_VIP),
      /kube-vip\.yaml is kube-vip with cp_enable: its virtual address/,
    ],
    [
      'a copy of a manifest beside it',
      (node: FakeNode) => node.write('/etc/kubernetes/manifests/old', node.read(MANIFEST)),
      /manifests\/old is another pod with kube-apiserver/,
    ],
    [
      'an image that must be pulled',
      (node: FakeNode) => (node.faults.hasImage = false),
      /straddle:1 is not on this node: crictl pull straddle:1\./,
    ],
    ['a symbolic link for a manifest', (node: FakeNode) => linkManifest(node), /is not a regular file/],
    [
      'no manifest',
      (node: FakeNode) => unlinkSync(join(node.root, MANIFEST)),
      /is this a control-plane node of kubeadm/,
    ],
    [
      'a kube-apiserver on loopback already',
      (node: FakeNode) => node.write(MANIFEST, kubeadmOutput('1.36-patched')),
      /listens on loopback already/,
    ],
    [
      'a bind address after the command',
      (node: FakeNode) =>
        node.write(
          MANIFEST,
          node.read(MANIFEST).replace('    image: ', '    args: [--bind-address=0.0.0.0]\n    image: '),
        ),
      /--bind-address=0\.0\.0\.0 is in args of .*kube-apiserver\.yaml, which come after the command/,
    ],
    [
      'a straddle.yaml of somebody else',
      (node: FakeNode) => node.write(POD, 'kind: Pod'),
      /was not written by this command/,
    ],
    ['a file for a folder', (node: FakeNode) => node.write('/etc/kubernetes/patches', 'x'), /cannot be/],
  ])('refuses a node with %s and changes nothing', async (_, prepare, message) => {
    const node = new FakeNode();
    prepare(node);
    const before = node.snapshot();
    const { error } = await install(node);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error?.message).toMatch(message);
    expect(node.snapshot()).toEqual(before);
  });

  it('refuses a second installation, and goes on with --force where only a check failed', async () => {
    const node = new FakeNode();
    node.faults.rightsMissing = true;
    expect((await install(node, '--force')).error).toBeUndefined();
    expect((await install(node)).error?.message).toBe(
      'Straddle is installed on this node already: run straddle uninstall first.',
    );
  });

  it.each([
    [['install', '--image=x'], /Give --kubeadm/],
    [['install', '--kubeadm'], /Give --image/],
  ])('names what is missing in %s', async (argv, message) => {
    expect((await run(new FakeNode(), argv)).error?.message).toMatch(message);
  });
});
