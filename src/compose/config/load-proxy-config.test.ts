import { describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.js';
import type { FlagName } from './flags.js';
import { loadProxyConfig } from './load-proxy-config.js';
import { type Machine, peerAdvertiseAddress } from './load-server-config.js';
import type { ProxyConfig } from './proxy-config.js';

type Flags = Partial<Record<FlagName, string | readonly string[]>>;

const BASE: Flags = {
  'tls-cert-file': 'tls.crt',
  'tls-private-key-file': 'tls.key',
  upstream: 'https://127.0.0.1:7443',
  'upstream-ca-file': 'ca.crt',
};
const FRONT_PROXY: Flags = { 'proxy-client-cert-file': 'fp.crt', 'proxy-client-key-file': 'fp.key' };

function load(flags: Flags, files: Record<string, string> = {}, machine: Partial<Machine> = {}): ProxyConfig {
  const given = new Map<FlagName, readonly string[]>();
  for (const [name, value] of Object.entries(flags)) {
    given.set(name as FlagName, typeof value === 'string' ? [value] : value);
  }
  return loadProxyConfig(given, {
    hostname: 'cp1',
    addresses: ['127.0.0.1', 'fe80::1', 'fd00::5', '10.0.0.5'],
    readFile: (path) => {
      if (files[path] === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      return files[path];
    },
    ...machine,
  });
}

function problems(flags: Flags, files: Record<string, string> = {}): readonly string[] {
  try {
    load(flags, files);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const withFile = (text: string, flags: Flags = BASE) => load({ ...flags, config: 'c.yaml' }, { 'c.yaml': text });
const fileProblems = (text: string) => problems({ ...BASE, config: 'c.yaml' }, { 'c.yaml': text });

describe('defaults of the proxy configuration', () => {
  it('are those of kube-apiserver and of the documentation', () => {
    const config = load({ ...BASE, 'peer-ca-file': 'ca.crt' });
    expect(config).toMatchObject({
      serverName: 'cp1',
      peeringActive: true,
      bindAddress: '0.0.0.0',
      securePort: 6443,
      stateDir: '/var/lib/straddle',
      passthroughFile: '/var/lib/straddle/passthrough',
      departedGraceMs: 600_000,
      leaseDurationSeconds: 40,
      peerServerName: 'kubernetes.default.svc',
      peerSources: { leases: true, endpoints: true },
      logLevel: 'info',
    });
    expect(config.requestHeader.extraHeaderPrefixes).toEqual(['X-Remote-Extra-']);
    expect(config.limits.headerBytesMax).toBe(65_536);
    expect(config.upstream.serverName).toBe('kubernetes.default.svc');
  });

  it('are deeply frozen', () => {
    const config = load(BASE);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.requestHeader.usernameHeaders)).toBe(true);
  });

  it('leave peering inactive, with a reason, without a peer CA', () => {
    const config = load(BASE);
    expect(config.peeringActive).toBe(false);
    expect(config.peeringInactiveReason).toContain('--peer-ca-file');
  });

  it('use the peer CA for the upstream', () => {
    const { 'upstream-ca-file': _, ...rest } = BASE;
    expect(load({ ...rest, 'peer-ca-file': 'peers.crt' }).upstream.caFile).toBe('peers.crt');
    expect(problems(rest).join()).toContain('--upstream-ca-file');
  });
});

describe('precedence of flags', () => {
  const text = `
departedGrace: 5m
server-name: 007
---
kind: ClusterConfiguration
apiServer:
  extraArgs: {request-timeout: 30s, bind-address: 10.0.0.9, peer-ca-file: kubeadm.crt}
`;
  it('is flags, then the file, then kubeadm, then defaults', () => {
    const config = withFile(text, { ...BASE, 'departed-grace': '1m', 'bind-address': '10.0.0.1' });
    expect(config).toMatchObject({ departedGraceMs: 60_000, serverName: '007', bindAddress: '10.0.0.1' });
    expect(config).toMatchObject({ peerCaFile: 'kubeadm.crt', shutdownGraceMs: 30_000 });
    expect(config.limits.requestTimeoutMs).toBe(30_000);
  });

  it('merges feature gates of all sources gate by gate', () => {
    const yaml = 'feature-gates: {UnknownVersionInteroperabilityProxy: false}';
    const flags = { ...BASE, 'feature-gates': ['AllAlpha=true,AllBeta=false'] };
    expect(withFile(yaml, flags).featureGates.UnknownVersionInteroperabilityProxy).toBe(false);
    const on = { ...BASE, 'feature-gates': ['UnknownVersionInteroperabilityProxy=true'] };
    expect(withFile(yaml, on).featureGates.UnknownVersionInteroperabilityProxy).toBe(true);
  });
});

describe('config files', () => {
  it('may have kubeadm extraArgs as a list; other kinds are ignored, and flags of kube-apiserver alone are noted', () => {
    const config = withFile(`
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration: {name: x}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs:
    - {name: peer-ca-file, value: k.crt}
    - {name: etcd-servers, value: "https://127.0.0.1:2379"}
    - {name: feature-gates, value: "GenericWorkload=true"}
`);
    expect(config.peerCaFile).toBe('k.crt');
    expect(config.notes.join()).toMatch(/--etcd-servers/);
    expect(config.notes.join()).toMatch(/feature gate GenericWorkload/);
  });

  const staticPod = (command: readonly string[]) =>
    `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system, creationTimestamp: null}
spec:
  containers:
  - name: kube-apiserver
    image: kube-apiserver:v1.36.4
    command: ${JSON.stringify(command)}
  hostNetwork: true
status: {}
`;

  it('may be the static pod of a kube-apiserver, in every spelling of flags', () => {
    const config = withFile(
      staticPod([
        'kube-apiserver',
        '--advertise-address=10.0.0.9',
        '--allow-privileged',
        '--client-ca-file',
        '/pki/ca.crt',
        '--requestheader-client-ca-file=/pki/front-proxy-ca.crt',
        '--requestheader_allowed_names=front-proxy-client,other',
        '--requestheader-allowed-names=third',
        '--proxy-client-cert-file=fp.crt',
        '--proxy-client-key-file=fp.key',
        '--feature-gates=GenericWorkload=true',
        '--service-account-issuer=https://a',
        '--service-account-issuer=https://b',
        '-v=5',
      ]),
    );
    expect(config).toMatchObject({
      peerAdvertiseIp: '10.0.0.9',
      clientCaFile: '/pki/ca.crt',
      requestHeader: { allowedNames: ['front-proxy-client', 'other', 'third'] },
      frontProxyCertificate: { certFile: 'fp.crt', keyFile: 'fp.key' },
      logLevel: 'debug',
    });
    expect(config.notes).toContain(
      'Left to kube-apiserver, from the command of kube-apiserver in c.yaml: --allow-privileged, --service-account-issuer.',
    );
    expect(config.notes.join()).toMatch(/feature gate GenericWorkload/);
  });

  it('may have keys of Straddle, a static pod and kubeadm extraArgs, in this order of importance', () => {
    const kubeadm = 'kind: ClusterConfiguration\napiServer: {extraArgs: {peer-ca-file: k, request-timeout: 30s}}\n';
    const pod = staticPod(['kube-apiserver', '--peer-ca-file=p', '--advertise-address=10.0.0.9']);
    const config = withFile(`${kubeadm}---\n${pod}---\nadvertise-address: 10.0.0.7\n`);
    expect(config).toMatchObject({
      peerCaFile: 'p',
      peerAdvertiseIp: '10.0.0.7',
      limits: { requestTimeoutMs: 30_000 },
    });
  });

  it.each([
    [
      'a wrong value',
      ['kube-apiserver', '--advertise-address=x'],
      /from the command of kube-apiserver in c\.yaml\) is "x"/,
    ],
    [
      'a shell',
      ['/bin/sh', '-c', 'kube-apiserver --v=2'],
      /"kube-apiserver" in c\.yaml starts kube-apiserver through a shell/,
    ],
    [
      'a word that is no flag',
      ['kube-apiserver', '--v=2', 'x'],
      /"x" in the command .* is neither a flag nor its value/,
    ],
    ['a reference', ['kube-apiserver', '--bind-address=$(IP)'], /--bind-address .* "\$\(IP\)", which only the kubelet/],
  ])('refuse a static pod with %s', (_, command, message) => {
    expect(fileProblems(staticPod(command)).join('\n')).toMatch(message);
  });

  it('refuse the static pod of another program', () => {
    const etcd = staticPod(['etcd', '--data-dir=x']).replaceAll('kube-apiserver', 'etcd');
    expect(fileProblems(etcd)).toEqual([
      'c.yaml has the pod "etcd", which runs no kube-apiserver; its static pod is kube-apiserver.yaml.',
    ]);
  });

  it('name an unknown key and suggest the nearest in the spelling used', () => {
    expect(fileProblems('departd-grace: 1m')).toEqual([
      'Unknown key "departd-grace" in c.yaml. Did you mean "departed-grace"?',
    ]);
    expect(fileProblems('peerCaFil: x').join()).toContain('"peerCaFile"');
  });

  it.each([
    ['broken YAML', 'a: [', /not valid YAML/],
    ['a list', '- peer', /must hold/],
    ['--config in a file', 'config: x', /only be given on the command line/],
    ['two spellings of one flag', 'peer-ca-file: a\npeerCaFile: b', /more than once/],
    ['a list for a single value', 'secure-port: [1, 2]', /one value/],
    ['a wrong value, with where it stands', 'secure-port: http', /--secure-port \(from c\.yaml\) is "http"/],
    ['odd extraArgs', 'kind: ClusterConfiguration\napiServer: {extraArgs: [a]}', /apiServer\.extraArgs/],
  ])('refuse %s', (_, text, message) => {
    expect(fileProblems(text).join('\n')).toMatch(message);
  });

  it('must be readable', () => {
    expect(problems({ ...BASE, config: 'gone.yaml' }).join()).toContain('gone.yaml cannot be read (ENOENT)');
  });

  it('without flags for Straddle cause a note', () => {
    expect(withFile('kind: Service').notes.join()).toContain('holds nothing for Straddle');
  });
});

describe('the proxy configuration refuses, and names the next step for:', () => {
  it.each<[string, Flags, RegExp]>([
    [
      'client CA without front-proxy certificate',
      { 'client-ca-file': 'ca' },
      /--client-ca-file needs --proxy-client-cert/,
    ],
    ['certificate without key', { 'proxy-client-cert-file': 'c' }, /--proxy-client-key-file too/],
    ['serving key without certificate', { 'tls-cert-file': '' }, /--tls-cert-file too/],
    ['bad URL', { upstream: 'nonsense' }, /--upstream is "nonsense"; it must be a URL/],
    ['plain upstream', { upstream: 'http://127.0.0.1:8080' }, /TLS only/],
    ['a path in a peer', { peer: 'https://10.0.0.2:6443/x' }, /only scheme, host and port/],
    ['bad ip', { 'peer-advertise-ip': 'cp1' }, /must be an IP address/],
    ['bad port', { 'secure-port': '70000' }, /port from 0 to 65535/],
    ['too many workers', { workers: '65' }, /--workers is "65"; it must be a whole number from 1 to 64\./],
    ['a number without unit', { 'departed-grace': '600' }, /duration with its unit/],
    [
      'unknown gate',
      { 'feature-gates': 'UnknownVersionInteropProxy=true' },
      /Did you mean UnknownVersionInteroperabilityProxy/,
    ],
    ['gate without a truth value', { 'feature-gates': 'UnknownVersionInteroperabilityProxy=maybe' }, /=true or/],
    ['unknown peer source', { 'peer-sources': 'lease' }, /Did you mean leases/],
    ['invalid names of HTTP headers', { 'requestheader-uid-headers': 'a b' }, /names of HTTP headers/],
    [
      '--peer-gone-after shorter than --surface-refresh',
      { 'peer-gone-after': '1s' },
      /not be shorter than --surface-refresh/,
    ],
    ['a lease duration with a fraction of a second', { 'lease-duration': '1500ms' }, /whole seconds/],
  ])('%s', (_, flags, message) => {
    expect(problems({ ...BASE, ...flags }).join('\n')).toMatch(message);
  });

  it('peer flags while the gate is off, unless they are meant for kube-apiserver', () => {
    const off = { ...BASE, 'feature-gates': 'UnknownVersionInteroperabilityProxy=false' };
    expect(problems({ ...off, 'peer-ca-file': 'ca', 'peer-advertise-port': '1' })).toHaveLength(2);
    const kubeadm = 'kind: ClusterConfiguration\napiServer: {extraArgs: {peer-ca-file: k.crt}}';
    expect(withFile(kubeadm, off).peeringActive).toBe(false);
  });

  it('an upstream that is Straddle itself', () => {
    expect(problems({ ...BASE, upstream: 'https://127.0.0.1:6443' }).join()).toContain('Straddle itself would listen');
    expect(problems({ ...BASE, upstream: 'https://127.0.0.1:6443', 'bind-address': '10.0.0.5' })).toEqual([]);
  });

  it('one CA for users and front proxies without names', () => {
    const flags = { ...BASE, ...FRONT_PROXY, 'client-ca-file': 'ca', 'requestheader-client-ca-file': 'ca' };
    expect(problems(flags).join()).toContain('claim to be anybody');
    expect(problems({ ...flags, 'requestheader-allowed-names': 'front-proxy-client' })).toEqual([]);
  });

  it('all problems at once, each once', () => {
    expect(
      problems({ ...BASE, 'secure-port': 'x', workers: '0', 'advertise-address': 'y', 'peer-ca-file': 'c' }),
    ).toHaveLength(3);
  });

  it('a kubeconfig that cannot be used', () => {
    const files = { k: 'kind: Config' };
    expect(problems({ ...BASE, kubeconfig: 'k' }, files).join()).toContain('no current-context');
    expect(problems({ ...BASE, kubeconfig: 'gone' }).join()).toContain('--kubeconfig: gone cannot be read');
  });
});

describe('advertised addresses', () => {
  const peering = { ...BASE, 'peer-ca-file': 'ca' };

  it('are from the most specific flag that can be dialled, else from the first routable interface', () => {
    expect(load(peering).peerAdvertiseIp).toBe('10.0.0.5');
    expect(load({ ...peering, 'bind-address': '10.0.0.7' }).peerAdvertiseIp).toBe('10.0.0.7');
    expect(load({ ...peering, 'advertise-address': '10.0.0.8' }).peerAdvertiseIp).toBe('10.0.0.8');
    const unspecified = load({ ...peering, 'peer-advertise-ip': '0.0.0.0', 'advertise-address': '10.0.0.8' });
    expect(unspecified.peerAdvertiseIp).toBe('10.0.0.8');
    expect(unspecified.notes.join()).toContain('cannot be dialled');
  });

  it('are never IPv6 if only IPv4 is listened on', () => {
    const machine = { addresses: ['fd00::5'] };
    expect(load({ ...peering, 'bind-address': '::' }, {}, machine).peerAdvertiseIp).toBe('fd00::5');
    expect(() => load(peering, {}, machine)).toThrow(/give --peer-advertise-ip/);
  });

  it('replace a loopback upstream, and have the port of the listener', () => {
    const config = load({ ...peering, 'secure-port': '0' });
    expect(config.upstream.advertised).toEqual({ host: '10.0.0.5', port: 7443 });
    expect(peerAdvertiseAddress(config, 12345)).toBe('10.0.0.5:12345');
    const ipv6 = load({ ...peering, upstream: 'https://[fd00::9]:6443', 'peer-advertise-ip': 'fd00::5' });
    expect(ipv6.upstream).toMatchObject({ host: 'fd00::9', advertised: { host: 'fd00::9', port: 6443 } });
    expect(peerAdvertiseAddress(ipv6, 1)).toBe('[fd00::5]:6443');
    const oneMachine = load({ ...peering, upstream: 'https://127.0.0.12:7443', 'peer-advertise-ip': '127.0.0.1' });
    expect(oneMachine.upstream.advertised).toEqual({ host: '127.0.0.12', port: 7443 });
  });
});

describe('other values of the proxy configuration', () => {
  it('may be lists, by commas and by repeated flags', () => {
    const config = load({ ...BASE, peer: ['https://10.0.0.2:6443,https://10.0.0.3', 'https://10.0.0.2:6443'] });
    expect(config.staticPeers).toEqual([
      { host: '10.0.0.2', port: 6443 },
      { host: '10.0.0.3', port: 443 },
    ]);
    expect(load({ ...BASE, 'peer-sources': '' }).peerSources).toEqual({ leases: false, endpoints: false });
  });

  it('map -v=4 to debug unless --log-level is given', () => {
    expect(load({ ...BASE, v: '4' }).logLevel).toBe('debug');
    expect(load({ ...BASE, v: '2' }).logLevel).toBe('info');
    expect(load({ ...BASE, v: '9', 'log-level': 'warn' }).logLevel).toBe('warn');
  });

  it('have no state folder with an empty --state-dir', () => {
    expect(load({ ...BASE, 'state-dir': '' }).stateDir).toBeUndefined();
  });

  it('keep the file for passthrough in the state folder unless one is named', () => {
    const fileOf = (flags: Flags) => load({ ...BASE, ...flags }).passthroughFile;
    expect(fileOf({ 'state-dir': '/s' })).toBe('/s/passthrough');
    expect(fileOf({ 'state-dir': '' })).toBeUndefined();
    expect(fileOf({ 'state-dir': '', 'passthrough-file': '/etc/pass' })).toBe('/etc/pass');
    expect(fileOf({ 'passthrough-file': '' })).toBeUndefined();
  });
});
