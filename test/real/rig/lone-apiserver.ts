import { startEtcd } from './etcd.js';
import { freePort } from './free-port.js';
import type { Endpoint } from './http-client.js';
import { KubeApiserver, type KubeSettings } from './kube-apiserver.js';
import { createPki } from './pki.js';

const ADDRESS = '127.0.0.21';

/** One etcd and one kube-apiserver in `dir`, for as long as `use` takes: what is recorded from a real server comes from here. */
export async function withKubeApiserver<T>(
  dir: string,
  settings: KubeSettings,
  use: (admin: Endpoint, kube: KubeApiserver) => Promise<T>,
): Promise<T> {
  const pki = createPki(`${dir}/pki`);
  const etcd = await startEtcd(dir);
  const kube = new KubeApiserver({
    name: 'recorded',
    hostname: 'recorded',
    address: ADDRESS,
    port: await freePort(ADDRESS),
    dir,
    etcdUrl: etcd.url,
    pki,
  });
  try {
    await kube.start(settings);
    return await use(kube.admin, kube);
  } finally {
    await kube.stop();
    await etcd.process.stop();
  }
}
