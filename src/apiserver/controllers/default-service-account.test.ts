import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import { DefaultServiceAccounts } from './default-service-account.js';
import { CONFIG_MAPS, FakeApi, fakeResource, NAMESPACES, status } from './fake-api.fixture.js';
import { CatalogueReader } from './resource-catalogue.js';

const ACCOUNTS = fakeResource('v1/serviceaccounts', 'ServiceAccount');
const ROOT_CA = 'kube-root-ca.crt';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUps.splice(0)) await each();
});

function setUp(rootCaPem: string | undefined = 'PEM') {
  const clock = new ManualClock();
  const api = new FakeApi([NAMESPACES, ACCOUNTS, CONFIG_MAPS], () => clock.nowMs());
  const start = async (pem = rootCaPem) => {
    const options = { client: api, reader: new CatalogueReader(api), clock, logger: silentLogger, rootCaPem: pem };
    const controller = new DefaultServiceAccounts({ ...options, metrics: createMetrics() });
    cleanUps.push(() => controller.close());
    await clock.advance(1_000);
    return controller;
  };
  return { clock, api, start };
}

describe('the controller of default service accounts', () => {
  it('creates the default account and kube-root-ca.crt in existing and new namespaces', async () => {
    const { clock, api, start } = setUp();
    api.put(NAMESPACES, { name: 'old' });
    await start();
    api.put(NAMESPACES, { name: 'new' });
    await clock.advance(1_000);
    for (const namespace of ['old', 'new']) {
      expect(api.get(ACCOUNTS, 'default', namespace)).toBeDefined();
      expect(api.get(CONFIG_MAPS, ROOT_CA, namespace)).toMatchObject({ data: { 'ca.crt': 'PEM' } });
    }
  });

  it('creates the account and kube-root-ca.crt again after their deletion', async () => {
    const { clock, api, start } = setUp();
    api.put(NAMESPACES, { name: 'shop' });
    await start();
    api.remove(ACCOUNTS, 'default', 'shop');
    api.remove(CONFIG_MAPS, ROOT_CA, 'shop');
    await clock.advance(1_000);
    expect(api.get(ACCOUNTS, 'default', 'shop')).toBeDefined();
    expect(api.get(CONFIG_MAPS, ROOT_CA, 'shop')).toBeDefined();
  });

  it('does not change an account and a kube-root-ca.crt that others created', async () => {
    const { clock, api, start } = setUp();
    api.put(NAMESPACES, { name: 'shop' });
    api.put(ACCOUNTS, { name: 'default', namespace: 'shop' });
    api.put(CONFIG_MAPS, { name: ROOT_CA, namespace: 'shop' }, { data: { 'ca.crt': 'ANOTHER' } });
    await start();
    await clock.advance(60_000);
    expect(api.changes).toEqual([]);
  });

  it('replaces the CA in a kube-root-ca.crt that it created', async () => {
    const { api, start } = setUp();
    api.put(NAMESPACES, { name: 'shop' });
    await (await start('OLD')).close();
    await start('NEW');
    expect(api.get(CONFIG_MAPS, ROOT_CA, 'shop')).toMatchObject({ data: { 'ca.crt': 'NEW' } });
  });

  it('creates nothing in a namespace that is being deleted', async () => {
    const { clock, api, start } = setUp();
    api.put(NAMESPACES, { name: 'shop', deletionTimestamp: '2030-01-01T00:00:00Z' });
    await start();
    await clock.advance(10_000);
    expect(api.changes).toEqual([]);
  });

  it('creates no account while reading it fails with 503', async () => {
    const { clock, api, start } = setUp();
    api.put(NAMESPACES, { name: 'shop' });
    api.intercept = ({ target }) => (target.endsWith('/default') ? status(503, 'ServiceUnavailable') : undefined);
    await start();
    await clock.advance(30_000);
    expect(api.changes).toEqual([]);
    api.intercept = () => undefined;
    await clock.advance(60_000);
    expect(api.get(ACCOUNTS, 'default', 'shop')).toBeDefined();
  });
});
