import { join } from 'node:path';
import { binaryPath } from './binaries.js';
import { eventually, GiveUp } from './eventually.js';
import { freePort } from './free-port.js';
import { RigProcess } from './process.js';

const ADDRESS = '127.0.0.1';

export interface Etcd {
  readonly url: string;
  readonly process: RigProcess;
}

export interface EtcdOptions {
  /**
   * Acknowledged writes are on the disk. Off for scenarios: nothing there has to survive a power cut, and a slow disk must
   * not decide one.
   */
  readonly durable?: boolean;
}

export async function startEtcd(dir: string, { durable = false }: EtcdOptions = {}): Promise<Etcd> {
  const url = `http://${ADDRESS}:${await freePort(ADDRESS)}`;
  const peerUrl = `http://${ADDRESS}:${await freePort(ADDRESS)}`;
  const process = new RigProcess({
    name: 'etcd',
    command: binaryPath('etcd'),
    logFile: join(dir, 'etcd.log'),
    args: [
      '--name=rig',
      `--data-dir=${join(dir, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=rig=${peerUrl}`,
      ...(durable ? [] : ['--unsafe-no-fsync']),
      '--log-level=warn',
    ],
  });
  await eventually('etcd is healthy', async () => {
    if (!process.running) throw new GiveUp(`etcd ended:\n${process.logTail()}`);
    return (await fetch(`${url}/health`)).ok;
  });
  return { url, process };
}
