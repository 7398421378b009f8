import { noPeers } from '../proxy/peers/no-peers.js';
import type { Worker } from '../proxy/workers/worker.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView } from './control-plane-view.js';

/** Makes the view of a worker from messages of its head, which renews the lease. */
export function replicatedView(
  { peeringActive }: Pick<ServerConfig, 'peeringActive'>,
  { surface, directory: replica }: Pick<Worker, 'surface' | 'directory'>,
): ControlPlaneView {
  const directory = peeringActive ? replica : noPeers();
  return {
    local: surface,
    directory,
    leaseRenewedAtMs: () => undefined,
    start: async () => {
      await surface.start();
      directory.start();
    },
    withdraw: async () => {},
    close: async () => {
      surface.close();
      await directory.close();
    },
  };
}
