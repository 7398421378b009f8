import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiAccess, RehearsalPlane, RehearsalPlaneOptions } from '../rehearse/rehearsal-plane.js';
import { startControlPlane } from './control-plane.js';
import type { ControlPlaneOptions } from './control-plane-options.js';

/** Options that both halves share; each half has its own certificates, store and ports. */
export type RehearsalPlaces = Omit<
  ControlPlaneOptions,
  'dataDir' | 'versions' | 'port' | 'proxy' | 'controllers' | 'progress' | 'balance' | 'restart'
> & {
  /** Each half makes a folder below this one and removes it at its end. */
  readonly workDir: string;
};

/**
 * Starts a control plane for one half of a rehearsal, without the controllers of the embedded server:
 * the rehearsal runs plain controllers.
 */
export async function startRehearsalPlane(
  places: RehearsalPlaces,
  { proxy, versions, progress }: RehearsalPlaneOptions,
): Promise<RehearsalPlane> {
  const dataDir = await mkdtemp(join(places.workDir, 'half-'));
  const forget = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  try {
    const plane = await startControlPlane({
      ...places,
      dataDir,
      versions,
      port: 0,
      balance: 'request',
      proxy,
      controllers: false,
      restart: true,
      progress,
    });
    const access = (address: string): ApiAccess => ({
      url: `https://${address}`,
      caPem: plane.pki.ca.certPem,
      certPem: plane.pki.admin.certPem,
      keyPem: plane.pki.admin.keyPem,
    });
    return {
      front: access(plane.front),
      kubeconfig: plane.kubeconfig,
      keepsObjects: places.upstream !== undefined || places.etcdServers.length > 0,
      get servers() {
        return plane.servers.map(({ name, version, address }) => ({ name, version, access: access(address) }));
      },
      async replace(server, version) {
        await plane.roll({ to: version, server, again: true, progress: () => {} });
      },
      async close() {
        await plane.close();
        await forget();
      },
    };
  } catch (error) {
    await forget();
    throw error;
  }
}
