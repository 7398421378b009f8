import { observeEventLoopDelay } from '../base/event-loop-delay.js';
import { x509Subject } from '../http/tls/x509-subject.js';
import type { HealthCheck } from '../proxy/chain/health-and-metrics-filter.js';
import type { ControlPlaneView } from './control-plane-view.js';
import type { Parts } from './server-parts.js';

export function healthChecks(
  parts: Parts,
  state: { readonly draining: boolean },
): Record<'livez' | 'readyz', HealthCheck[]> {
  const { config, host, view } = parts;
  const { local, directory } = view;
  const canServe = () =>
    host.ready() || directory.snapshot().peers.some((peer) => peer.endpoints.some((e) => e.usable()));
  const readyz: HealthCheck[] = [
    { name: 'shutdown', check: () => (state.draining ? 'shutting down' : 'ok') },
    { name: 'api-server', check: () => (canServe() ? 'ok' : 'neither the local API server nor a peer takes requests') },
  ];
  if (config.peeringActive) {
    readyz.push(
      {
        name: 'local-surface',
        check: () => (local.surface ? 'ok' : "the local server's discovery was not read yet"),
      },
      {
        name: 'peer-directory',
        check: () => (directory.synced() ? 'ok' : 'not every source of peers has answered yet'),
      },
    );
  }
  return { livez: [{ name: 'ping', check: () => 'ok' }], readyz };
}

/** Fills the gauges about the whole control plane, at each scrape; in a group of processes only the head has them. */
export function fillGauges(
  parts: Pick<Parts, 'config' | 'host' | 'metrics' | 'tls' | 'clock'> & Pick<ControlPlaneView, 'local' | 'directory'>,
): void {
  const { metrics, host, local, directory, clock, config, tls } = parts;
  const gate = config.featureGates.UnknownVersionInteroperabilityProxy;
  metrics.featureEnabled.labels('UnknownVersionInteroperabilityProxy', 'BETA').set(gate ? 1 : 0);
  metrics.registry.collect(() => {
    metrics.hostReady.labels().set(host.ready() ? 1 : 0);
    for (const gauge of [metrics.peerUsable, metrics.surfaceAgeSeconds]) gauge.reset();
    metrics.frontProxyExpirySeconds.reset();
    const frontProxy = tls.frontProxy?.current.certificates[0];
    if (frontProxy) {
      const { commonName } = x509Subject(frontProxy.raw);
      metrics.frontProxyExpirySeconds.labels(commonName).set(Date.parse(frontProxy.validTo) / 1000);
    }
    if (local.surface) {
      metrics.surfaceAgeSeconds.labels(config.serverName).set((clock.nowMs() - local.confirmedAtMs) / 1000);
    }
    const described = directory.describe();
    metrics.departedServers.labels().set(described.departed.length);
    metrics.addressConflicts.labels().set(described.conflicts.length);
    metrics.peersLeftOut.labels().set(described.leftOutCount);
    for (const peer of described.peers) {
      if (peer.surfaceAgeMs !== undefined)
        metrics.surfaceAgeSeconds.labels(peer.identity).set(peer.surfaceAgeMs / 1000);
      for (const { address, kind, usable } of peer.endpoints) {
        metrics.peerUsable.labels(peer.identity, address, kind).set(usable ? 1 : 0);
      }
    }
  });
}

/** Fills the gauges that each process of a group has; the metrics page shows their sum. */
export function fillProcessGauges({ metrics, view }: Pick<Parts, 'metrics' | 'view'>): void {
  observeEventLoopDelay(metrics);
  metrics.registry.collect(() => {
    metrics.peerInFlight.reset();
    for (const { identity, endpoints } of view.directory.describe().peers) {
      for (const { address, inFlight } of endpoints) metrics.peerInFlight.labels(identity, address).set(inFlight);
    }
  });
}
