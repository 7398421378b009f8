import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTestApiServer } from '../api-server.fixture.js';
import { openEmbeddedBackend } from '../storage/engines/embedded/embedded-backend.js';

const PODS = '/api/v1/namespaces/default/pods';

it('the first eviction after a restart of the server respects the disruption budget', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'straddle-eviction-'));
  const backend = await openEmbeddedBackend({ dataDir: dir });
  const before = await startTestApiServer({ backend });
  const account = { metadata: { name: 'default' } };
  await before.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { body: account });
  const pod = { metadata: { name: 'p', labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await before.ask('POST', PODS, { body: pod })).status).toBe(201);
  await before.ask('PATCH', `${PODS}/p/status`, { body: { status: { phase: 'Running' } } });
  const budget = { metadata: { name: 'budget' }, spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } };
  await before.ask('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', { body: budget });
  await before.close();
  const after = await startTestApiServer({ backend });
  try {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
    expect((await after.ask('POST', `${PODS}/p/eviction`, { body })).status).toBe(429);
  } finally {
    await after.close();
    await backend.close();
    await rm(dir, { recursive: true, force: true });
  }
});
