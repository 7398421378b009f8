import { afterAll, beforeAll, describe } from 'vitest';
import { describeBackend } from '../../conformance/describe-backend.fixture.js';
import { openEtcdBackend } from './etcd-backend.js';
import { type EtcdServer, findEtcd, NO_ETCD, startEtcd } from './etcd-server.fixture.js';

const binary = findEtcd();

if (binary === undefined) console.warn(`skipped: the etcd engine's storage suite (${NO_ETCD})`);

// Every test of the suite counts as skipped, and its name says why.
describe.skipIf(binary === undefined)(`the etcd engine${binary === undefined ? ` (skipped: ${NO_ETCD})` : ''}`, () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await startEtcd(binary!);
  });
  afterAll(() => server.stop());
  describeBackend('the etcd engine', {
    open: () => openEtcdBackend({ endpoints: [server.endpoint] }),
    valueBytesMax: 2 ** 20,
  });
});
