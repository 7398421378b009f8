import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeClient, makeServer } from '../../src/http/tls/pki.fixture.js';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const ALL = 'create delete get list patch update watch';
const OLD = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };
const NEW = { ...OLD, 'scheduling.io/v1/podgroups': ALL };
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const PODGROUPS = '/apis/scheduling.io/v1/namespaces/default/podgroups';
const ALICE = { authorization: 'Bearer alice-token' };
const HOUR_MS = 3_600_000;

let plane: ControlPlane;

beforeEach(() => {
  plane = new ControlPlane();
});

afterEach(() => plane.close());

const logged = ({ log }: Member, text: string) => log.filter(({ msg }) => msg.includes(text));
const ended = () => new Date(Math.floor(Date.now() / 1_000) * 1_000 - HOUR_MS);

async function metric(member: Member, pattern: RegExp): Promise<number | undefined> {
  const { text } = await plane.ask(member, '/metrics', { headers: ALICE });
  const value = pattern.exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}

describe.runIf(process.platform === 'linux')('Straddle with a full disk below --state-dir', () => {
  /** The draft of a file is on a device that is always full; a failed write removes it, as if there were room again. */
  function fill(name: string): void {
    symlinkSync('/dev/full', join(plane.certificates.directory, 'a', `${name}.${process.pid}.new`));
  }

  it('serves, logs one warning, switches passthrough on and off, and writes again when there is room', async () => {
    mkdirSync(join(plane.certificates.directory, 'a'));
    fill('servers-seen-by-a.json');
    const [a] = await Promise.all([plane.add('a', OLD), plane.add('b', NEW)]);
    await eventually(
      'the warning',
      () => logged(a, 'state file of departed servers cannot be written'),
      (lines) => lines.length > 0,
    );
    expect(String(logged(a, 'state file of departed servers')[0]!['why'])).toContain('ENOSPC');
    await eventually(
      'a reply of the peer',
      async () => (await plane.ask(a, PODGROUPS, { headers: ALICE })).status,
      (status) => status === 200,
    );
    expect((await plane.ask(a, '/readyz')).status).toBe(200);

    fill('passthrough');
    const order = { method: 'POST', headers: ALICE, body: { on: true, reason: 'test' } };
    const switched = (await plane.ask(a, '/straddle/passthrough', order)).json();
    expect(switched).toMatchObject({ on: true, notKept: expect.stringContaining('ENOSPC') });
    expect((await plane.ask(a, PODGROUPS, { headers: ALICE })).status).toBe(404);
    await plane.ask(a, '/straddle/passthrough', { ...order, body: { on: false } });
    expect((await plane.ask(a, PODGROUPS, { headers: ALICE })).status).toBe(200);
  });
});

describe('Straddle with an expired serving certificate', () => {
  it('starts and warns, is refused by clients and peers, and serves with a renewed file without a restart', async () => {
    const { certificates } = plane;
    const names = { dnsNames: ['kubernetes.default.svc', 'localhost'], ipAddresses: ['127.0.0.1'] };
    const old = makeServer(certificates.ca, { ...names, notAfter: ended() });
    const b = await plane.add('b', NEW, {
      'tls-cert-file': certificates.write('b.crt', old.pem),
      'tls-private-key-file': certificates.write('b.key', old.keyPem),
    });
    const a = await plane.add('a', OLD, { peer: `https://127.0.0.1:${b.straddle.port}`, 'peer-sources': 'endpoints' });
    expect(logged(b, 'a certificate has expired')).toHaveLength(1);
    await expect(plane.ask(b, CONFIGMAPS)).rejects.toThrow('certificate has expired');
    const warning = await eventually(
      'the warning of the peer',
      () => logged(a, 'discovery of a peer cannot be read')[0],
      (line) => line !== undefined,
    );
    expect(String(warning!['why'])).toContain('certificate has expired');
    expect(await metric(a, /^straddle_peer_usable\{.*\} (\d)$/m)).toBe(0);

    const renewed = makeServer(certificates.ca, names);
    writeFileSync(certificates.file('b.crt'), renewed.pem);
    writeFileSync(certificates.file('b.key'), renewed.keyPem);
    await eventually(
      'the renewed certificate',
      () =>
        plane.ask(b, CONFIGMAPS).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
      12_000,
    );
    await eventually(
      'a reply of the peer',
      async () => (await plane.ask(a, PODGROUPS, { headers: ALICE })).status,
      (status) => status === 200,
    );
    expect(await metric(b, /^straddle_serving_certificate_expiry_seconds (\d+)$/m)).toBe(
      Date.parse(renewed.x509.validTo) / 1_000,
    );
  });
});

describe('Straddle with an expired front-proxy certificate', () => {
  it('is refused by peers, so that what they serve is 503, until its file is renewed', async () => {
    const { certificates } = plane;
    const old = makeClient(certificates.frontProxyCa, { cn: 'front-proxy-client', notAfter: ended() });
    const b = await plane.add('b', NEW);
    const a = await plane.add('a', OLD, {
      'proxy-client-cert-file': certificates.write('old.crt', old.pem),
      'proxy-client-key-file': certificates.write('old.key', old.keyPem),
      peer: `https://127.0.0.1:${b.straddle.port}`,
      'peer-sources': 'endpoints',
    });
    expect(logged(a, 'a certificate has expired')).toHaveLength(1);
    expect(await metric(a, /^straddle_front_proxy_certificate_expiry_seconds\{.*\} (\d+)$/m)).toBeLessThan(
      Date.now() / 1_000,
    );
    const warning = await eventually(
      'the refusal of the peer',
      () => logged(a, 'discovery of a peer cannot be read')[0],
      (line) => line !== undefined,
    );
    expect(warning).toMatchObject({ why: 'GET /readyz answered 401' });
    for (const as of [undefined, certificates.user('jane')]) {
      const refused = await plane.ask(a, PODGROUPS, as ? { as } : { headers: ALICE });
      expect(refused.status).toBe(503);
    }

    certificates.write('old.crt', certificates.frontProxy.pem);
    certificates.write('old.key', certificates.frontProxy.keyPem);
    await eventually(
      'a reply of the peer',
      async () => (await plane.ask(a, PODGROUPS, { as: certificates.user('jane') })).status,
      (status) => status === 200,
      15_000,
    );
  });
});
