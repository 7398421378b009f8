import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiAccess, RehearsalPlane, RehearsalPlaneOptions } from '../rehearse/rehearsal-plane.js';
import { startControlPlane } from './control-plane.js';
import type { ControlPlaneOptions } from './control-plane-options.js';

/** What is the same for both halves; certificates, stores and ports are each half's own. */
export type RehearsalPlaces = Omit<
  ControlPlaneOptions,
  'dataDir' | 'versions' | 'port' | 'proxy' | 'controllers' | 'progress' | 'balance' | 'restart'
> & {
  /** A folder below which each half has one of its own, gone afterwards. */
  readonly workDir: string;
};

/**
 * A control plane for one half of a rehearsal. Servers run no controllers of Straddle's own: the rehearsal brings
 * controllers that trust every answer, as most do.
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
