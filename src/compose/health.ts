import { observeEventLoopDelay } from '../base/event-loop-delay.js';
import { x509Subject } from '../http/tls/x509-subject.js';
import type { HealthCheck } from '../proxy/chain/health-and-metrics-filter.js';
import type { RunningPeerDirectory } from '../proxy/peers/peer-directory.js';
import type { Parts } from './parts.js';

export function healthChecks(
  parts: Parts,
  state: { readonly draining: boolean },
): Record<'livez' | 'readyz', HealthCheck[]> {
  const {
    config,
    backing: { host },
    localSurface,
    directory,
  } = parts;
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
        check: () => (localSurface.surface ? 'ok' : "the local server's discovery was not read yet"),
      },
      {
        name: 'peer-directory',
        check: () => (directory.synced() ? 'ok' : 'not every source of peers has answered yet'),
      },
    );
  }
  return { livez: [{ name: 'ping', check: () => 'ok' }], readyz };
}

export function fillGauges(parts: Parts, running: RunningPeerDirectory | undefined): void {
  const { metrics, backing, localSurface, clock, config, tls } = parts;
  const gate = config.featureGates.UnknownVersionInteroperabilityProxy;
  metrics.featureEnabled.labels('UnknownVersionInteroperabilityProxy', 'BETA').set(gate ? 1 : 0);
  metrics.registry.collect(() => {
    metrics.hostReady.labels().set(backing.host.ready() ? 1 : 0);
    for (const gauge of [metrics.peerUsable, metrics.surfaceAgeSeconds]) gauge.reset();
    metrics.frontProxyExpirySeconds.reset();
    const frontProxy = tls.frontProxy?.current.certificates[0];
    if (frontProxy) {
      const { commonName } = x509Subject(frontProxy.raw);
      metrics.frontProxyExpirySeconds.labels(commonName).set(Date.parse(frontProxy.validTo) / 1000);
    }
    if (localSurface.surface) {
      metrics.surfaceAgeSeconds.labels(config.serverName).set((clock.nowMs() - localSurface.confirmedAtMs) / 1000);
    }
    const described = running?.describe();
    metrics.departedServers.labels().set(described?.departed.length ?? 0);
    metrics.addressConflicts.labels().set(described?.conflicts.length ?? 0);
    metrics.peersLeftOut.labels().set(described?.leftOutCount ?? 0);
    for (const peer of described?.peers ?? []) {
      if (peer.surfaceAgeMs !== undefined)
        metrics.surfaceAgeSeconds.labels(peer.identity).set(peer.surfaceAgeMs / 1000);
      for (const { address, kind, usable } of peer.endpoints) {
        metrics.peerUsable.labels(peer.identity, address, kind).set(usable ? 1 : 0);
      }
    }
  });
}

/** What each of several processes has of its own, and only the sum of them tells. */
export function fillOwnGauges({ metrics }: Parts, running: RunningPeerDirectory | undefined): void {
  observeEventLoopDelay(metrics);
  metrics.registry.collect(() => {
    metrics.peerInFlight.reset();
    for (const { identity, endpoints } of running?.describe().peers ?? []) {
      for (const { address, inFlight } of endpoints) metrics.peerInFlight.labels(identity, address).set(inFlight);
    }
  });
}
