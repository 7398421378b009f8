import { Destinations } from '../http/client/destinations.js';
import { KubeClient } from '../kube/client/kube-client.js';
import { LocalSurface } from '../proxy/peers/local-surface.js';
import { noPeers } from '../proxy/peers/no-peers.js';
import type { StraddleLease } from '../proxy/peers/straddle-lease.js';
import { SurfaceReader } from '../proxy/peers/surface-reader.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView, ViewedServer } from './control-plane-view.js';
import { fillGauges } from './health.js';
import { createDirectory, createStraddleLease, kubeSend, type ObservedViewOptions } from './peering.js';

/** Makes a view that this process updates: it reads discovery, probes peers, renews a lease. */
export async function observedView(
  config: ServerConfig,
  options: ObservedViewOptions,
  { host, router }: ViewedServer,
): Promise<ControlPlaneView> {
  const { clock, logger, metrics, tls } = options;
  if (config.peeringInactiveReason) logger.warn(config.peeringInactiveReason);
  const local = new LocalSurface({
    reader: new SurfaceReader({ fetch: host.fetch, clock }),
    readEveryMs: config.surfaceRefreshMs,
    hostReady: () => host.ready(),
    clock,
    logger,
    onReadFailed: () => metrics.discoverySyncErrors.labels('local').inc(),
  });
  const requests = kubeSend(options.kubeconfig, router, clock);
  const client = new KubeClient({ send: requests.send, clock });
  const peers = new Destinations(() => tls.peerTls(), options.reach);
  tls.onOutgoingChange(() => peers.renew());
  const directory = config.peeringActive
    ? await createDirectory(config, { ...options, host, local, client, peers })
    : noPeers();
  fillGauges({ config, host, local, directory, metrics, tls, clock });

  let lease: StraddleLease | undefined;
  return {
    local,
    directory,
    leaseRenewedAtMs: () => lease?.renewedAtMs,
    start: async (port) => {
      await local.start();
      host.onSurfaceChange?.(() => void local.refresh());
      directory.start();
      if (!config.peeringActive) return;
      lease = createStraddleLease(config, client, port, { host, clock, logger });
      void lease.start();
    },
    withdraw: async () => lease?.close(),
    close: async () => {
      local.close();
      await directory.close();
      await requests.close();
    },
  };
}
