import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueCertificate } from '../../../src/http/tls/issue-certificate.js';
import { layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call } from '../rig/http-client.js';
import { RigProcess } from '../rig/process.js';
import type { Scenario, ScenarioContext } from '../scenario.js';

const NAMESPACES = '/api/v1/namespaces';
const PATIENCE = { timeoutMs: 60_000 };
/** A kube-apiserver without its store holds a request for a minute; a Straddle waits so long for each server that it tries. */
const REQUEST_TIMEOUT = '4s';

/** Rows of docs/operations/failures.md: etcd is gone, and the front-proxy certificate of a Straddle has expired. */
export const storeAndFrontProxy: Scenario = {
  number: 52,
  name: 'etcd killed and started again: 503 and never 404, then all is well; an expired front-proxy certificate: 503, then renewed',
  timeoutMs: 300_000,
  async run(context) {
    await context.plane.arrange(layoutOf('default', { 'request-timeout': REQUEST_TIMEOUT }));
    await withoutStore(context);
    await withExpiredFrontProxy(context);
  },
};

async function withoutStore({ plane, defer }: ScenarioContext): Promise<void> {
  const { straddle } = plane.a;
  const restart = () => new RigProcess(plane.etcd.process.options);
  let isBack = false;
  defer(() => {
    if (!isBack) restart();
  });
  const logBegins = straddle.process?.log().length ?? 0;
  await plane.etcd.process.kill();
  await eventually(
    'A’s Straddle takes its server for down',
    () => straddle.process?.log().slice(logBegins).includes('the local API server is down'),
    PATIENCE,
  );
  assert.equal((await call(straddle.admin, '/livez')).status, 200, 'the process itself is well');
  for (let i = 0; i < 3; i++) {
    const { status, text } = await call(straddle.admin, NAMESPACES, { timeoutMs: 90_000 });
    assert.ok([500, 503, 504].includes(status), `${status}: ${text}`);
  }
  restart();
  isBack = true;
  await eventually(
    'reads are served again',
    async () => (await call(straddle.admin, NAMESPACES)).status === 200,
    PATIENCE,
  );
  for (const server of plane.all) await server.straddle.servesLocally();
  await plane.converged();
}

async function withExpiredFrontProxy({ plane, defer }: ScenarioContext): Promise<void> {
  const { straddle } = plane.a;
  const { frontProxyCa, frontProxyClient, dir } = plane.pki;
  const certFile = join(dir, 'expiring.crt');
  const keyFile = join(dir, 'expiring.key');
  const subject = {
    commonName: 'front-proxy-client',
    organizations: [],
    dnsNames: [],
    ipAddresses: [],
    usage: 'client',
  } as const;
  const expired = issueCertificate(frontProxyCa, { ...subject, days: 1, nowMs: Date.now() - 3 * 86_400_000 });
  writeFileSync(certFile, expired.certPem);
  writeFileSync(keyFile, expired.keyPem, { mode: 0o600 });
  defer(async () => {
    await straddle.stop();
  });
  await straddle.stop();
  straddle.launch({ 'proxy-client-cert-file': certFile, 'proxy-client-key-file': keyFile });
  await eventually(
    'the Straddle answers',
    async () => (await call(straddle.admin, '/livez', { timeoutMs: 2_000 })).status === 200,
  );
  assert.match(straddle.process?.log() ?? '', /a certificate has expired/);
  const ofUser = await call(straddle.admin, NAMESPACES);
  assert.equal(ofUser.status, 503, ofUser.text);
  assert.equal((await call(straddle.admin, '/readyz')).status, 503);
  assert.match(straddle.process?.log() ?? '', /\/readyz answers 401/);

  writeFileSync(certFile, frontProxyClient.certPem);
  writeFileSync(keyFile, frontProxyClient.keyPem, { mode: 0o600 });
  await eventually(
    'users are served again',
    async () => (await call(straddle.admin, NAMESPACES)).status === 200,
    PATIENCE,
  );
  await straddle.servesLocally();
}
