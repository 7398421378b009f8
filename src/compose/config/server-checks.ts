import { isLoopback, isUnspecified } from './addresses.js';
import type { FlagValues } from './flag-values.js';
import type { ServerConfig } from './server-config.js';

/** Takes sentences: problems refuse the configuration, notes are logged at the start. */
export interface Findings {
  readonly wrong: (sentence: string) => void;
  readonly note: (sentence: string) => void;
}

/** Checks flags against each other, for every kind of server. */
export function checkServer(config: ServerConfig, values: FlagValues, findings: Findings): void {
  checkServing(config, findings);
  checkFrontProxy(values, findings);
  checkGate(config, values, findings);
  checkPeers(config, values, findings);
}

function checkServing({ tlsCertFile, tlsPrivateKeyFile }: ServerConfig, { wrong }: Findings): void {
  if (!tlsCertFile && !tlsPrivateKeyFile) {
    wrong('Give --tls-cert-file and --tls-private-key-file: Straddle serves TLS only, so it needs a certificate.');
  } else if (!tlsPrivateKeyFile) {
    wrong('--tls-cert-file needs its private key: give --tls-private-key-file too.');
  } else if (!tlsCertFile) {
    wrong('--tls-private-key-file needs its certificate: give --tls-cert-file too.');
  }
}

function checkFrontProxy(values: FlagValues, { wrong }: Findings): void {
  const cert = values.file('proxy-client-cert-file');
  const key = values.file('proxy-client-key-file');
  if (cert && !key) wrong('--proxy-client-cert-file needs its private key: give --proxy-client-key-file too.');
  if (key && !cert) wrong('--proxy-client-key-file needs its certificate: give --proxy-client-cert-file too.');
}

/** kube-apiserver refuses its three peer flags with the gate off; Straddle refuses --peer likewise. */
const PEER_FLAGS = ['peer-ca-file', 'peer-advertise-ip', 'peer-advertise-port', 'peer'] as const;

function checkGate(config: ServerConfig, values: FlagValues, { wrong, note }: Findings): void {
  if (config.featureGates.UnknownVersionInteroperabilityProxy) return;
  for (const flag of PEER_FLAGS) {
    const source = values.source(flag);
    if (source === undefined) continue;
    // Flags of a kube-apiserver are meant for its own proxy, whatever Straddle's gate is.
    if (source === 'kube-apiserver') note(`--${flag} of the kube-apiserver has no effect: the feature gate is off.`);
    else {
      wrong(
        `--${flag} requires the feature gate UnknownVersionInteroperabilityProxy, which is off: remove --${flag}, or set` +
          ' --feature-gates=UnknownVersionInteroperabilityProxy=true.',
      );
    }
  }
}

function checkPeers(config: ServerConfig, values: FlagValues, { wrong, note }: Findings): void {
  if (config.peerGoneAfterMs < config.surfaceRefreshMs) {
    wrong(
      '--peer-gone-after must not be shorter than --surface-refresh, or every peer would depart between two looks.',
    );
  }
  if (!Number.isInteger(config.leaseDurationSeconds)) wrong('--lease-duration must be whole seconds, such as 40s.');
  if (!config.serverName) wrong('This machine has no host name: give --server-name.');
  if (!config.peerServerName)
    wrong('--peer-server-name must not be empty; kube-apiservers have kubernetes.default.svc.');
  if (!config.peeringActive) return;
  for (const flag of ['peer-advertise-ip', 'advertise-address'] as const) {
    const given = values.ip(flag);
    if (given && isUnspecified(given)) note(`--${flag}=${given} cannot be dialled; using ${config.peerAdvertiseIp}.`);
  }
  if (isUnspecified(config.peerAdvertiseIp)) {
    wrong('No address to give to peers: this machine has only loopback addresses, so give --peer-advertise-ip.');
  } else if (isLoopback(config.peerAdvertiseIp) && !isForThisMachine(values)) {
    note(`Peers are told to reach this Straddle at ${config.peerAdvertiseIp}: only servers on this machine can.`);
  }
  const { leases, endpoints } = config.peerSources;
  if (!leases && !endpoints && config.staticPeers.length === 0) {
    note('No peers can be found: --peer-sources is empty and there is no --peer.');
  }
}

/** Returns whether other machines have no part in it: nobody chose the loopback address, and the store is on this machine. */
function isForThisMachine(values: FlagValues): boolean {
  return values.source('bind-address') === undefined && values.list('etcd-servers').length === 0;
}
