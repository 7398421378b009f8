import type { X509Certificate } from 'node:crypto';
import { observeEventLoopDelay } from '../base/event-loop-delay.js';
import type { Metrics } from '../base/metric-catalogue.js';
import { observeProcess } from '../base/process-metrics.js';
import { x509Subject } from '../http/tls/x509-subject.js';
import type { HealthCheck } from '../proxy/chain/health-and-metrics-filter.js';
import type { ControlPlaneView } from './control-plane-view.js';
import type { Parts } from './server-parts.js';

export function healthChecks(
  parts: Parts,
  state: { readonly draining: boolean },
): Record<'livez' | 'readyz', HealthCheck[]> {
  const { config, host, view, passthrough } = parts;
  const { local, directory } = view;
  const canServe = () =>
    host.ready() ||
    (!passthrough.state.on && directory.snapshot().peers.some((peer) => peer.endpoints.some((e) => e.usable())));
  const nobodyServes = () =>
    passthrough.state.on
      ? 'the local API server takes no requests, and passthrough is on'
      : 'neither the local API server nor a peer takes requests';
  const readyz: HealthCheck[] = [
    { name: 'shutdown', check: () => (state.draining ? 'shutting down' : 'ok') },
    {
      name: 'api-server',
      check: (alone) => {
        if (alone) return host.ready() ? 'ok' : 'the local API server takes no requests';
        return canServe() ? 'ok' : nobodyServes();
      },
    },
  ];
  if (config.peeringActive) {
    // Passthrough needs neither of them.
    readyz.push(
      {
        name: 'local-surface',
        check: () => (local.surface || passthrough.state.on ? 'ok' : "the local server's discovery was not read yet"),
      },
      {
        name: 'peer-directory',
        check: () => (directory.synced() || passthrough.state.on ? 'ok' : 'not every source of peers has answered yet'),
      },
    );
  }
  // No condition: everybody may read this page, and few may read that the protection is off in /metrics.
  readyz.push({ name: 'passthrough', check: () => (passthrough.state.on ? 'ok' : undefined) });
  return { livez: [{ name: 'ping', check: () => 'ok' }], readyz };
}

/** Fills the gauges about the whole control plane, at each scrape; in a group of processes only the head has them. */
export function fillGauges(
  parts: Pick<Parts, 'config' | 'host' | 'metrics' | 'tls' | 'clock'> & Pick<ControlPlaneView, 'local' | 'directory'>,
): void {
  const { metrics, host, local, directory, clock, config, tls } = parts;
  const gate = config.featureGates.UnknownVersionInteroperabilityProxy;
  metrics.featureEnabled.labels('UnknownVersionInteroperabilityProxy', 'BETA').set(gate ? 1 : 0);
  metrics.processStartSeconds.labels().set(Math.round((clock.nowMs() - process.uptime() * 1000) / 1000));
  metrics.registry.collect(() => {
    metrics.hostReady.labels().set(host.ready() ? 1 : 0);
    for (const gauge of [metrics.peerUsable, metrics.surfaceAgeSeconds, metrics.departedSinceSeconds]) gauge.reset();
    fillCertificateExpiry(metrics, tls);
    if (local.surface) {
      metrics.surfaceAgeSeconds.labels(config.serverName).set((clock.nowMs() - local.confirmedAtMs) / 1000);
    }
    const described = directory.describe();
    metrics.departedServers.labels().set(described.departed.length);
    for (const { identity, departedAtMs } of described.departed) {
      metrics.departedSinceSeconds.labels(identity).set(departedAtMs / 1000);
    }
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

function fillCertificateExpiry(metrics: Metrics, { servingPair, frontProxy }: Parts['tls']): void {
  metrics.servingExpirySeconds.labels().set(expirySeconds(servingPair.current.certificates[0]!));
  metrics.frontProxyExpirySeconds.reset();
  const shown = frontProxy?.current.certificates[0];
  if (shown) metrics.frontProxyExpirySeconds.labels(x509Subject(shown.raw).commonName).set(expirySeconds(shown));
}

export function expirySeconds({ validTo }: X509Certificate): number {
  return Date.parse(validTo) / 1000;
}

/** Fills the gauges that each process of a group has; the metrics page shows their sum. */
export function fillProcessGauges({ metrics, view }: Pick<Parts, 'metrics' | 'view'>): void {
  observeEventLoopDelay(metrics);
  observeProcess(metrics);
  metrics.registry.collect(() => {
    metrics.peerInFlight.reset();
    for (const { identity, endpoints } of view.directory.describe().peers) {
      for (const { address, inFlight } of endpoints) metrics.peerInFlight.labels(identity, address).set(inFlight);
    }
  });
}
