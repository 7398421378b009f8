import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Binary, kubeProgram, serverBinaries } from '../rig/binaries.js';
import { startEtcd } from '../rig/etcd.js';
import { freePort } from '../rig/free-port.js';
import { KubeApiserver } from '../rig/kube-apiserver.js';
import type { KubeVersion } from '../rig/pinned-versions.js';
import { createPki, type Pki } from '../rig/pki.js';
import { StraddleApiserver } from '../rig/straddle-apiserver.js';

/** A real kube-apiserver alone with its etcd, and a `straddle apiserver` of the same version, both empty. */
export interface Pair {
  readonly dir: string;
  readonly pki: Pki;
  readonly real: KubeApiserver;
  readonly ours: StraddleApiserver;
  stop(): Promise<void>;
}

const REAL_ADDRESS = '127.0.0.21';
const OUR_ADDRESS = '127.0.0.22';

/** Both servers and kubectl are of this release, whatever servers the rig runs else. */
export const PAIR_VERSION: KubeVersion = 'v1.36.4';

export function pairPrograms(): readonly Binary[] {
  return [...serverBinaries(PAIR_VERSION), kubeProgram('kubectl', PAIR_VERSION)];
}

export async function startPair(parent: string): Promise<Pair> {
  const dir = join(parent, `pair-${Date.now().toString(36)}`);
  mkdirSync(dir, { recursive: true });
  const pki = createPki(join(dir, 'pki'));
  const etcd = await startEtcd(dir);
  const real = new KubeApiserver({
    name: 'golden',
    hostname: 'golden',
    address: REAL_ADDRESS,
    port: await freePort(REAL_ADDRESS),
    dir,
    etcdUrl: etcd.url,
    pki,
  });
  const port = await freePort(OUR_ADDRESS);
  const ours = new StraddleApiserver({ name: 'golden', address: OUR_ADDRESS, port, dir, pki });
  const stop = async (): Promise<void> => {
    await Promise.all([real.stop(), ours.stop()]);
    await etcd.process.stop();
  };
  try {
    const settings = { version: PAIR_VERSION, flags: [] };
    await Promise.all([real.start(settings), ours.start(settings)]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { dir, pki, real, ours, stop };
}
