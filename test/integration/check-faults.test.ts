import { afterEach, describe, expect, it } from 'vitest';
import { makeCa, makeClient, makeServer } from '../../src/http/tls/pki.fixture.js';
import { inspectCheck } from '../../src/tools/inspect/check-inspection.js';
import type { CheckReport } from '../../src/tools/inspect/check-report.js';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

let plane: ControlPlane;

afterEach(() => plane.close());

/** Straddle `a` as it should be and `b` with these flags, before API servers of their own. */
async function start(flags: (plane: ControlPlane) => Record<string, string>): Promise<{ a: Member; b: Member }> {
  plane = new ControlPlane();
  plane.storage.put('/api/v1/namespaces/kube-system/configmaps', {
    metadata: { name: 'extension-apiserver-authentication' },
    data: {
      'requestheader-client-ca-file': plane.certificates.frontProxyCa.pem,
      'requestheader-allowed-names': '["front-proxy-client"]',
    },
  });
  const a = await plane.add('a', COMMON);
  const b = await plane.add('b', { ...COMMON, 'batch/v1/jobs': 'get list' }, flags(plane));
  return { a, b };
}

function check(door: Member, given: readonly Member[] = []): Promise<CheckReport> {
  return inspectCheck(
    {
      url: `https://127.0.0.1:${door.straddle.port}`,
      serverName: '127.0.0.1',
      credentials: {
        ca: plane.certificates.ca.pem,
        clientCert: undefined,
        clientKey: undefined,
        token: 'alice-token',
        insecureSkipTlsVerify: false,
      },
      given: given.map(({ straddle }) => `127.0.0.1:${straddle.port}`),
      nowMs: Date.now,
    },
    undefined,
  );
}

const failed = ({ checks }: CheckReport): string[] =>
  checks.filter(({ verdict }) => verdict === 'FAIL').map(({ server, check: name }) => `${server}: ${name}`);

/** Looks until this, and only this, is found wrong. */
const untilFound = (expected: readonly string[], look: () => Promise<CheckReport>): Promise<CheckReport> =>
  eventually(
    `${expected.join(', ') || 'nothing'} to be found`,
    look,
    (report) => failed(report).sort().join() === [...expected].sort().join(),
    12_000,
  );

describe('straddle check of real Straddle processes', () => {
  it('finds no problem in two correctly configured Straddles', async () => {
    const { a } = await start(() => ({}));
    const report = await untilFound([], () => check(a));
    expect(report.verdict).toBe('ok');
    expect(report.checks.find(({ check: name }) => name === 'front-proxy')).toMatchObject({
      verdict: 'ok',
      detail: expect.stringContaining('front-proxy-client, until'),
    });
  });

  it('finds a missing peer CA', async () => {
    const { a, b } = await start(() => ({ 'peer-ca-file': '' }));
    const name = `127.0.0.1:${b.straddle.port}`;
    const report = await untilFound(
      [`${name}: protection`, `${name}: peer-ca`, '*: everywhere', `a: peer ${name}`],
      () => check(a, [b]),
    );
    expect(report.verdict).toBe('failed');
  });

  it('finds a Straddle with the feature gate off', async () => {
    const { a, b } = await start(() => ({
      'peer-ca-file': '',
      'feature-gates': 'UnknownVersionInteroperabilityProxy=false',
    }));
    const name = `127.0.0.1:${b.straddle.port}`;
    await untilFound([`${name}: protection`, `${name}: gate`, '*: everywhere', `a: peer ${name}`], () => check(a, [b]));
  });

  it('finds a peer CA that is not that of the peers', async () => {
    const { a } = await start(({ certificates }) => ({
      'peer-ca-file': certificates.write('other-ca.crt', makeCa('other').pem),
    }));
    const report = await untilFound(['b: peer a'], () => check(a));
    expect(report.checks.find(({ check: name }) => name === 'peer a')?.mend).toContain(
      '--peer-ca-file holds the CA of a',
    );
  });

  it('finds a certificate without the name that peers verify', async () => {
    const { a } = await start(({ certificates }) => {
      const serving = makeServer(certificates.ca, { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] });
      return {
        'tls-cert-file': certificates.write('b.crt', serving.pem),
        'tls-private-key-file': certificates.write('b.key', serving.keyPem),
      };
    });
    await untilFound(['b: certificate-names'], () => check(a));
  });

  it('finds a front proxy that is not allowed', async () => {
    const { a } = await start(({ certificates }) => {
      const stranger = makeClient(certificates.frontProxyCa, { cn: 'stranger' });
      return {
        'proxy-client-cert-file': certificates.write('stranger.crt', stranger.pem),
        'proxy-client-key-file': certificates.write('stranger.key', stranger.keyPem),
      };
    });
    const report = await untilFound(['b: front-proxy'], () => check(a));
    expect(report.checks.find(({ verdict }) => verdict === 'FAIL')?.detail).toContain('for stranger, and only');
  });

  it('finds an expired certificate', async () => {
    const { a } = await start(({ certificates }) => {
      const serving = makeServer(certificates.ca, {
        dnsNames: ['kubernetes.default.svc'],
        notAfter: new Date(Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000),
      });
      return {
        'tls-cert-file': certificates.write('b.crt', serving.pem),
        'tls-private-key-file': certificates.write('b.key', serving.keyPem),
      };
    });
    const report = await untilFound(['b: reachable', 'b: certificate-expiry'], () => check(a));
    expect(report.checks.find(({ check: name }) => name === 'certificate-expiry')?.verdict).toBe('ok');
  });

  it('finds a missing front-proxy certificate', async () => {
    // Such a Straddle has no identity to write a lease with, and knows only the peers that flags name.
    const { a, b } = await start(({ members }) => ({
      'proxy-client-cert-file': '',
      'proxy-client-key-file': '',
      'client-ca-file': '',
      'requestheader-client-ca-file': '',
      'requestheader-allowed-names': '',
      peer: `https://127.0.0.1:${members[0]!.straddle.port}`,
    }));
    const ofB = ({ checks }: CheckReport) =>
      checks.find(({ address, check: name }) => name === 'front-proxy' && address === `127.0.0.1:${b.straddle.port}`);
    const report = await eventually(
      'the missing certificate to be found',
      () => check(a, [b]),
      (each) => ofB(each)?.verdict === 'FAIL',
    );
    expect(ofB(report)).toMatchObject({
      detail: 'it has no front-proxy certificate',
      mend: expect.stringContaining('--proxy-client-cert-file'),
    });
  });

  it('finds a stale lease', async () => {
    const { a } = await start(() => ({}));
    // Once nothing is found, b has deleted the leases that it takes for stale ones of its server.
    await untilFound([], () => check(a));
    plane.storage.put('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      metadata: {
        name: 'apiserver-old',
        labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'b' },
      },
      spec: { renewTime: new Date(Date.now() - 600_000).toISOString(), leaseDurationSeconds: 3_600 },
    });
    const report = await untilFound(['b: lease'], () => check(a));
    const line = report.checks.find(({ verdict }) => verdict === 'FAIL');
    expect(line?.mend).toContain('kubectl delete lease -n kube-system apiserver-old');
  });

  it('finds a port that is closed', async () => {
    const { a, b } = await start(() => ({ 'peer-advertise-ip': '127.0.0.1', 'peer-advertise-port': '9' }));
    // The API server behind it is still reached, so there is a way around the closed port.
    await untilFound(['b: reachable'], () => check(a));
    await b.api.stop();
    const report = await untilFound(['b: reachable', 'b: reachable', 'a: peer b'], () => check(a));
    const line = report.checks.find(({ check: name }) => name === 'peer b');
    expect(line?.mend).toContain('b does not answer from here either (connection refused)');
  });
});
