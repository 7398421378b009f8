import { afterAll, beforeAll, describe, it } from 'vitest';
import { describeBackend } from '../../conformance/describe-backend.fixture.js';
import { openEtcdBackend } from './etcd-backend.js';
import { type EtcdServer, findEtcd, NO_ETCD, startEtcd } from './etcd-server.fixture.js';

const binary = findEtcd();

if (binary === undefined) {
  console.warn(`skipped: the etcd engine's storage suite (${NO_ETCD})`);
  describe.skip(`the etcd engine (${NO_ETCD})`, () => it('keeps the storage contract', () => {}));
} else {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await startEtcd(binary);
  });
  afterAll(() => server.stop());
  describeBackend('the etcd engine', {
    open: () => openEtcdBackend({ endpoints: [server.endpoint] }),
    valueBytesMax: 2 ** 20,
  });
}
