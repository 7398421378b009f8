import { afterEach, describe, expect, it } from 'vitest';
import { terminalColors } from '../../base/terminal-colors.js';
import { makeCa, makeClient } from '../../http/tls/pki.fixture.js';
import { inspectCheck } from './check-inspection.js';
import { type CheckReport, exitCodeOf } from './check-report.js';
import { checkText } from './check-text.js';
import { FakePlane, type FakeServer, NOW_MS } from './inspected-plane.fixture.js';
import { inspect } from './inspection.js';
import { statusReport } from './status-report.js';
import { statusText } from './status-text.js';

let plane: FakePlane;

afterEach(() => plane.close());

/** Two good servers, and a third with what is wrong with it. */
async function check(fault: Partial<FakeServer>, others: Partial<FakeServer> = {}): Promise<CheckReport> {
  plane = new FakePlane();
  await plane.start(
    { name: 'a', kind: 'straddle', ...others },
    { name: 'b', kind: 'straddle', ...others },
    { name: 'c', kind: 'straddle', ...fault },
  );
  return inspectCheck(plane.door('a'), undefined);
}

const failed = ({ checks }: CheckReport) =>
  checks.filter(({ verdict }) => verdict === 'FAIL').map(({ server, check: name }) => `${server}: ${name}`);

const lineOf = ({ checks }: CheckReport, server: string, name: string) =>
  checks.find((each) => each.server === server && each.check === name)!;

describe('straddle check', () => {
  it('finds no problem in a control plane with complete protection', async () => {
    const report = await check({});
    expect(failed(report)).toEqual([]);
    expect(report.verdict).toBe('ok');
    expect(exitCodeOf(report)).toBe(0);
    expect(lineOf(report, 'a', 'peer c').detail).toContain(`reached at ${plane.address('c')}`);
  });

  it('finds a server whose protection is switched off', async () => {
    const report = await check({ passthrough: true });
    expect(failed(report)).toEqual(['c: protection', '*: everywhere']);
    const since = new Date(NOW_MS).toISOString();
    expect(lineOf(report, 'c', 'protection')).toMatchObject({
      detail: `straddle sidecar: protection is switched off since ${since}`,
      mend: 'Switch it on again when the reason is gone: straddle passthrough off.',
    });
    expect(lineOf(report, '*', 'everywhere').detail).toBe('on for a, b, off for c');
    expect(exitCodeOf(report)).toBe(1);
  });

  it.each([
    ['to a user who may not read its metrics', { forbidden: ['/metrics'] }],
    ['without a time', { passthroughSince: 'NaN' }],
    ['since a time that no Date can have', { passthroughSince: '1e300' }],
    ['since ever', { passthroughSince: '+Inf' }],
  ] as const)('finds a server whose protection is switched off, shown %s', async (_, fault) => {
    const report = await check({ passthrough: true, ...fault });
    expect(lineOf(report, 'c', 'protection')).toMatchObject({
      verdict: 'FAIL',
      detail: 'straddle sidecar: protection is switched off',
    });
    expect(lineOf(report, '*', 'everywhere').detail).toBe('on for a, b, off for c');
  });

  it('finds a server without a peer CA', async () => {
    const report = await check({ peerCa: false, lease: false });
    // Nobody tells where it is, so it is named by hand.
    const named = await inspectCheck({ ...plane.door('a'), given: [plane.address('c')] }, undefined);
    expect(failed(report)).toEqual([]);
    const server = plane.address('c');
    expect(lineOf(named, server, 'gate').verdict).toBe('ok');
    expect(lineOf(named, server, 'peer-ca')).toMatchObject({ verdict: 'FAIL', detail: '--peer-ca-file is not given' });
    expect(lineOf(named, server, 'peer-ca').mend).toContain('--peer-ca-file');
    expect(lineOf(named, '*', 'everywhere').detail).toBe(`on for a, b, off for ${server}`);
    expect(exitCodeOf(named)).toBe(1);
  });

  it('finds a server whose certificate is of another CA, without giving it a token', async () => {
    const report = await check({ ca: makeCa('stranger') }, { reaches: ['a', 'b'] });
    expect(lineOf(report, 'c', 'certificate-chain')).toMatchObject({ verdict: 'FAIL' });
    expect(lineOf(report, 'c', 'certificate-chain').detail).toContain('issued by CN=stranger');
    expect(lineOf(report, 'c', 'certificate-chain').mend).toContain('--peer-ca-file');
    expect(lineOf(report, 'a', 'peer c').mend).toBe(
      'Its certificate is the likeliest cause: mend certificate-chain of c.',
    );
    expect(failed(report)).toContain('c: reachable');
    expect([...plane.trusted].sort()).toEqual(['a', 'b']);
  });

  it('finds a server that verifies its peers with another CA than theirs', async () => {
    const report = await check({ reaches: [] });
    expect(failed(report)).toEqual(['c: peer a', 'c: peer b']);
    expect(lineOf(report, 'c', 'peer a').mend).toContain('--peer-ca-file holds the CA of a');
  });

  it('finds an expired certificate, and one that soon will be', async () => {
    const report = await check(
      { certificate: { notAfter: new Date(NOW_MS - 86_400_000) } },
      { certificate: { dnsNames: ['kubernetes.default.svc'], notAfter: new Date(NOW_MS + 10.5 * 86_400_000) } },
    );
    expect(lineOf(report, 'c', 'certificate-expiry').detail).toContain('expired on');
    expect(lineOf(report, 'c', 'certificate-chain').verdict).toBe('ok');
    expect(lineOf(report, 'c', 'reachable').detail).toBe('certificate has expired');
    expect(lineOf(report, 'a', 'certificate-expiry').detail).toContain('expires in 10 days');
    expect(lineOf(report, 'a', 'certificate-expiry').mend).toContain('Renew');
  });

  it('finds missing names in a certificate', async () => {
    const report = await check({ certificate: { dnsNames: ['c'] } });
    expect(failed(report)).toEqual(['c: certificate-names']);
    const line = lineOf(report, 'c', 'certificate-names');
    expect(line.detail).toBe('lacks kubernetes.default.svc');
    expect(line.mend).toContain('subject alternative names');
  });

  it('finds a port that is closed between two servers only', async () => {
    const report = await check({ reaches: ['b'] });
    expect(failed(report)).toEqual(['c: peer a']);
    expect(lineOf(report, 'c', 'peer a').mend).toContain(`open ${plane.address('a')} for connections from this server`);
  });

  it('finds a port that is closed to everybody', async () => {
    const report = await check({ down: true }, { reaches: ['a', 'b'] });
    expect(failed(report)).toEqual(['a: peer c', 'b: peer c', 'c: reachable']);
    expect(lineOf(report, 'a', 'peer c').mend).toBe(
      'c does not answer from here either (connection refused): start it.',
    );
    expect(lineOf(report, 'c', 'reachable').mend).toBe(
      `Nobody listens at ${plane.address('c')}: start the server; if it ended by itself, its log says why.`,
    );
  });

  it.each([
    ['that says so', true],
    ['of an older release', 'older'],
  ] as const)(
    'finds a dead API server behind a Straddle %s, although peers serve its requests',
    async (_, serverDown) => {
      const report = await check({ serverDown }, { reaches: ['a', 'b'] });
      expect(failed(report)).toEqual(['a: peer c', 'b: peer c', 'c: reachable']);
      expect(lineOf(report, 'c', 'reachable').detail).toContain('the API server behind it is down');
      expect(lineOf(report, 'a', 'peer c').mend).toBe('The API server behind the Straddle of c is down: start it.');
    },
  );

  it('does not advise to open an address of a peer that refuses connections', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'b', kind: 'plain', down: true });
    const refusing = plane.address('b');
    await plane.start(
      { name: 'a', kind: 'straddle', reaches: [] },
      { name: 'b', kind: 'straddle', annotations: { 'straddle.dev/upstream': refusing } },
    );
    const report = await inspectCheck({ ...plane.door('a'), url: `https://${plane.address('a')}` }, undefined);
    expect(lineOf(report, 'a', 'peer b').verdict).toBe('FAIL');
    expect(lineOf(report, 'a', 'peer b').mend).not.toContain(refusing);
  });

  it('does not judge a certificate chain without an authority', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle' });
    const credentials = { ...plane.credentials, ca: undefined, insecureSkipTlsVerify: true };
    const report = await inspectCheck({ ...plane.door('a'), credentials }, undefined);
    expect(lineOf(report, 'a', 'certificate-chain')).toMatchObject({
      verdict: 'unknown',
      detail: expect.stringContaining('no CA to judge it by'),
    });
    const judged = await inspectCheck({ ...plane.door('a'), credentials, peerCa: plane.ca.pem }, undefined);
    expect(lineOf(judged, 'a', 'certificate-chain').verdict).toBe('ok');
  });

  it('finds a stale lease', async () => {
    const report = await check({ leaseAgeMs: 600_000 });
    expect(failed(report)).toEqual(['c: lease']);
    expect(lineOf(report, 'c', 'lease').mend).toContain('kubectl delete lease -n kube-system lease-c');
  });

  it('finds a gate that is off on one server', async () => {
    const report = await check({ gate: false });
    expect(failed(report)).toEqual(['c: protection', 'c: gate', '*: everywhere']);
    expect(lineOf(report, 'c', 'gate').mend).toContain('UnknownVersionInteroperabilityProxy');
    expect(lineOf(report, '*', 'everywhere').mend).toBe('Clients of c meet wrong 404s: turn it on there too.');
  });

  it('finds a server without a front-proxy certificate', async () => {
    const report = await check({ frontProxy: undefined });
    expect(failed(report)).toEqual(['c: front-proxy']);
    expect(lineOf(report, 'c', 'front-proxy').mend).toContain('--proxy-client-cert-file');
  });

  it('finds a front proxy that is not allowed', async () => {
    const report = await check({ frontProxy: 'stranger' });
    expect(failed(report)).toEqual(['c: front-proxy']);
    expect(lineOf(report, 'c', 'front-proxy').detail).toContain('for stranger, and only front-proxy-client may');
    expect(lineOf(report, 'c', 'front-proxy').mend).toContain('--requestheader-allowed-names');
  });

  it('finds a clock that is off, and warns of one that is a little off', async () => {
    const report = await check({ clockOffMs: -45_000 }, { clockOffMs: 7_000 });
    expect(failed(report)).toEqual(['c: clock']);
    expect(lineOf(report, 'c', 'clock').detail).toBe("44 s behind this machine's");
    expect(lineOf(report, 'c', 'clock').mend).toContain('Set its clock right');
    expect(lineOf(report, 'a', 'clock').verdict).toBe('warn');
  });

  it('blames the clock of this machine if all servers agree with each other', async () => {
    const report = await check({ clockOffMs: 60_000 }, { clockOffMs: 60_000 });
    expect(lineOf(report, 'a', 'clock').mend).toContain('set the clock of this machine right');
  });

  it('advises to start a server that its peers have given up, not to mend their rights', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'straddle' }, { name: 'b', kind: 'straddle', down: true, leaseAgeMs: 60_000 });
    const report = await inspectCheck(plane.door('a'), undefined);
    expect(lineOf(report, 'a', 'peer b')).toMatchObject({
      verdict: 'FAIL',
      detail: 'it has given it up as gone',
      mend: 'b does not answer from here either (connection refused): start it.',
    });
  });

  it('prints each failed check with its next step', async () => {
    const text = checkText(await check({ gate: false }), false);
    expect(text).toMatch(/FAIL +c +gate +UnknownVersionInteroperabilityProxy is off\n +→ Start it without/);
    expect(text).toMatch(/3 failed, 4 unknown\./);
  });

  it('prints one color for each verdict, and the verdict itself', async () => {
    const colors = terminalColors({ isTerminal: true, environment: {} });
    const text = checkText(await check({ gate: false }), false, { colors, width: undefined });
    expect(text).toContain('\x1b[31mFAIL\x1b[39m');
    expect(text).toContain('\x1b[32mok\x1b[39m');
    expect(text).toContain('\x1b[33munknown\x1b[39m');
  });

  it('shows no terminal sequences of a server', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'plain', version: 'v1.36.4\u001b[2J\u202e' });
    const { door, servers } = statusReport(await inspect(plane.door('a')));
    const text = statusText({ door, servers, notes: ['\u001b]0;title\u0007 is not allowed'] }, false);
    expect(text).toContain('v1.36.4\ufffd');
    expect(text).toContain('Note: is not allowed.\n');
    expect(text).not.toContain('\u001b');
  });
});

describe('straddle check without Straddle', () => {
  const JOBS = { '/v1/pods': 'get list', 'batch/v1/jobs': 'get list' };

  async function native(...servers: FakeServer[]): Promise<CheckReport> {
    plane = new FakePlane();
    await plane.start(...servers);
    return inspectCheck(plane.door(servers[0]!.name), undefined);
  }

  it('recognizes the native proxy by health checks and discovery', async () => {
    const report = await native({ name: 'a', kind: 'native' }, { name: 'b', kind: 'native', serves: JOBS });
    expect(failed(report)).toEqual([]);
    expect(lineOf(report, 'a', 'protection').detail).toBe('native mixed version proxy');
    expect(lineOf(report, 'a', 'peer b').detail).toBe('its discovery shows jobs.v1.batch of it');
    expect(lineOf(report, 'b', 'peer a').detail).toContain('no read of a peer has failed');
  });

  it('finds a native server that lacks resources of another in its discovery', async () => {
    const report = await native(
      { name: 'a', kind: 'native', reaches: [] },
      { name: 'b', kind: 'native', serves: JOBS },
    );
    expect(failed(report)).toEqual(['a: peer b']);
    expect(lineOf(report, 'a', 'peer b').detail).toBe('its discovery lacks jobs.v1.batch of it');
  });

  it('finds a native gate without a peer CA', async () => {
    const report = await native({ name: 'a', kind: 'native', peerCa: false });
    expect(failed(report)).toEqual(['a: protection', 'a: peer-ca', '*: everywhere']);
    expect(lineOf(report, '*', 'everywhere')).toMatchObject({
      detail: expect.stringContaining('is off without --peer-ca-file'),
      mend: expect.stringMatching(
        /--peer-ca-file .*, or put a Straddle in front of each: straddle install --kubeadm\.$/,
      ),
    });
    expect(report.checks.some((each) => ['service', 'kubeconfig', 'controller-manager'].includes(each.check))).toBe(
      false,
    );
  });

  it('finds servers with no protection at all', async () => {
    const report = await native({ name: 'a', kind: 'plain' }, { name: 'b', kind: 'plain' });
    expect(failed(report)).toEqual(['a: protection', 'a: gate', 'b: protection', 'b: gate', '*: everywhere']);
    expect(lineOf(report, 'a', 'protection').mend).toContain('straddle proxy');
    expect(lineOf(report, '*', 'everywhere').detail).toBe('no server is protected');
  });

  it('reads the command line of static pods if servers show neither health checks nor metrics', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'plain', forbidden: ['/metrics', '/readyz'] });
    const [ip, port] = plane.address('a').split(':');
    plane.pods.push({
      metadata: { name: 'kube-apiserver-a' },
      spec: {
        nodeName: 'a',
        containers: [
          {
            command: [
              'kube-apiserver',
              `--advertise-address=${ip}`,
              `--secure-port=${port}`,
              '--feature-gates=UnknownVersionInteroperabilityProxy=true',
            ],
          },
        ],
      },
    });
    const report = await inspectCheck(plane.door('a'), undefined);
    expect(lineOf(report, 'a', 'gate').verdict).toBe('ok');
    expect(lineOf(report, 'a', 'peer-ca').verdict).toBe('FAIL');
  });
});

describe('straddle check with few rights', () => {
  it('has the verdict unknown and exit code 2, and names the missing right', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native', forbidden: ['/metrics', '/readyz', 'leases'] });
    const report = await inspectCheck(plane.door('a'), undefined);
    expect(report.verdict).toBe('unknown');
    expect(exitCodeOf(report)).toBe(2);
    expect(report.notes[0]).toContain('not allowed to list leases.coordination.k8s.io in kube-system');
    expect(lineOf(report, plane.address('a'), 'gate').detail).toBe('not allowed to get the non-resource URL /metrics');
  });

  it('rejects with one sentence if the server refuses connections', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native', down: true });
    await expect(inspectCheck(plane.door('a'), undefined)).rejects.toThrow(
      `https://${plane.address('a')} cannot be reached: connection refused.`,
    );
  });
});

describe('straddle check of the front-proxy certificate file', () => {
  it.each([
    ['of another CA', () => makeClient(makeCa('other'), { cn: 'front-proxy-client' }).pem, 'not of the CA'],
    [
      'for a name that is not allowed',
      (p: FakePlane) => makeClient(p.frontProxyCa, { cn: 'x' }).pem,
      'for x, and only',
    ],
    ['that is no certificate', () => 'nonsense', 'not a certificate'],
  ])('fails for a certificate %s', async (_, make, detail) => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native' });
    const report = await inspectCheck(plane.door('a'), { path: 'front.crt', pem: make(plane) });
    const lines = report.checks.filter((each) => each.check === 'front-proxy' && each.verdict === 'FAIL');
    expect(lines.map((each) => each.detail)).toEqual([expect.stringContaining(`front.crt: `)]);
    expect(lines[0]!.detail).toContain(detail);
  });

  it('has no line for a good certificate', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'native' });
    const { pem } = makeClient(plane.frontProxyCa, { cn: 'front-proxy-client' });
    expect(failed(await inspectCheck(plane.door('a'), { path: 'front.crt', pem }))).toEqual([]);
  });
});
