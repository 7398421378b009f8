import { Destinations } from '../http/client/destinations.js';
import type { Reach } from '../http/client/reach.js';
import { KubeClient } from '../kube/client/kube-client.js';
import { LocalSurface } from '../proxy/peers/local-surface.js';
import { noPeers } from '../proxy/peers/no-peers.js';
import type { PeerDirectoryOptions } from '../proxy/peers/peer-directory.js';
import type { StraddleLease } from '../proxy/peers/straddle-lease.js';
import { SurfaceReader } from '../proxy/peers/surface-reader.js';
import type { ProxyConfig } from './config/proxy-config.js';
import type { ServerConfig } from './config/server-config.js';
import type { ControlPlaneView, ViewedServer } from './control-plane-view.js';
import { fillGauges } from './health.js';
import { createDirectory, createStraddleLease, kubeSend } from './peering.js';
import type { ServerSurroundings } from './start-server.js';

export interface ObservedViewOptions extends Pick<ServerSurroundings, 'clock' | 'logger' | 'metrics' | 'tls' | 'own'> {
  /** Straddle's own identity towards the API, where it has one apart. */
  readonly kubeconfig: ProxyConfig['kubeconfig'];
  /** How peers are reached, where that is not simply the network. */
  readonly reach?: Reach | undefined;
  /** Callbacks for changes in the health of endpoints. */
  readonly health?: Pick<PeerDirectoryOptions, 'onHealth' | 'onHang'> | undefined;
}

/** Makes a view that this process keeps up to date: it reads discovery, probes peers and keeps a lease of its own. */
export async function observedView(
  config: ServerConfig,
  options: ObservedViewOptions,
  { host, router }: ViewedServer,
): Promise<ControlPlaneView> {
  const { clock, logger, metrics, tls, own, health } = options;
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
    ? await createDirectory(config, { host, local, client, peers, own, clock, logger, metrics, health })
    : noPeers();
  fillGauges({ config, host, local, directory, metrics, tls, clock });

  let lease: StraddleLease | undefined;
  return {
    local,
    directory,
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
