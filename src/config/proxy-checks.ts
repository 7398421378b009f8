import { isLoopback, isUnspecified } from './addresses.js';
import type { FlagValues } from './flag-values.js';
import type { ProxyConfig } from './proxy-config.js';

export interface Findings {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

type Say = (sentence: string) => void;

/** What single values cannot show: pairs that belong together, switches that contradict each other. */
export function checkProxyConfig(config: ProxyConfig, values: FlagValues): Findings {
  const problems: string[] = [];
  const notes: string[] = [];
  const wrong: Say = (sentence) => problems.push(sentence);
  const note: Say = (sentence) => notes.push(sentence);
  checkServing(config, wrong);
  checkIdentity(config, values, wrong, note);
  checkUpstream(config, values, wrong);
  checkGate(config, values, wrong, note);
  checkPeers(config, values, wrong, note);
  return { problems, notes };
}

function checkServing(config: ProxyConfig, wrong: Say): void {
  const { tlsCertFile, tlsPrivateKeyFile } = config;
  if (!tlsCertFile && !tlsPrivateKeyFile) {
    wrong('Give --tls-cert-file and --tls-private-key-file: Straddle serves TLS only, so it needs a certificate.');
  } else if (!tlsPrivateKeyFile) {
    wrong('--tls-cert-file needs its private key: give --tls-private-key-file too.');
  } else if (!tlsCertFile) {
    wrong('--tls-private-key-file needs its certificate: give --tls-cert-file too.');
  }
}

function checkIdentity(config: ProxyConfig, values: FlagValues, wrong: Say, note: Say): void {
  const cert = values.file('proxy-client-cert-file');
  const key = values.file('proxy-client-key-file');
  if (cert && !key) wrong('--proxy-client-cert-file needs its private key: give --proxy-client-key-file too.');
  if (key && !cert) wrong('--proxy-client-key-file needs its certificate: give --proxy-client-cert-file too.');
  const { clientCaFile, requestHeader } = config;
  for (const [flag, given] of [
    ['--client-ca-file', clientCaFile],
    ['--requestheader-client-ca-file', requestHeader.clientCaFile],
  ]) {
    if (given && !cert && !key) {
      wrong(
        `${flag} needs --proxy-client-cert-file and --proxy-client-key-file: only the front-proxy certificate can carry` +
          ' those users on to the kube-apiserver (kubeadm keeps it in /etc/kubernetes/pki/front-proxy-client.crt and .key).',
      );
    }
  }
  if (!requestHeader.clientCaFile || requestHeader.allowedNames.length > 0) return;
  if (clientCaFile === requestHeader.clientCaFile) {
    wrong(
      '--client-ca-file and --requestheader-client-ca-file are the same file and --requestheader-allowed-names is empty,' +
        ' so every client could claim to be anybody: name the front proxies, or use a CA of their own.',
    );
  } else {
    note(
      '--requestheader-allowed-names is empty: every certificate of --requestheader-client-ca-file may name any user.',
    );
  }
}

function checkUpstream(config: ProxyConfig, values: FlagValues, wrong: Say): void {
  const { upstream, bindAddress, securePort } = config;
  if (!upstream.caFile && !hasPeerCaFlag(values)) {
    wrong('Give --upstream-ca-file (or --peer-ca-file): the kube-apiserver is only spoken to over verified TLS.');
  }
  const ownAddresses = [bindAddress, config.peerAdvertiseIp];
  const listensThere = isUnspecified(bindAddress)
    ? isLoopback(upstream.host) || isUnspecified(upstream.host) || ownAddresses.includes(upstream.host)
    : upstream.host === bindAddress || (isLoopback(bindAddress) && upstream.host === 'localhost');
  if (securePort !== 0 && upstream.port === securePort && listensThere) {
    wrong(
      `--upstream (https://${upstream.host}:${upstream.port}) is where Straddle itself would listen: give the kube-apiserver` +
        ' another port and name it with --upstream, or change --secure-port or --bind-address.',
    );
  }
  if (config.kubeconfig?.insecureSkipTlsVerify) {
    wrong('--kubeconfig has insecure-skip-tls-verify, which Straddle refuses: give it a certificate-authority.');
  }
}

function hasPeerCaFlag(values: FlagValues): boolean {
  return values.source('peer-ca-file') !== undefined;
}

/** kube-apiserver refuses its three peer flags with the gate off; Straddle refuses --peer likewise. */
const PEER_FLAGS = ['peer-ca-file', 'peer-advertise-ip', 'peer-advertise-port', 'peer'] as const;

function checkGate(config: ProxyConfig, values: FlagValues, wrong: Say, note: Say): void {
  if (config.featureGates.UnknownVersionInteroperabilityProxy) return;
  for (const flag of PEER_FLAGS) {
    const source = values.source(flag);
    if (source === undefined) continue;
    // Those in a kubeadm file are meant for kube-apiserver's own feature, whatever Straddle's gate says.
    if (source === 'kubeadm') note(`--${flag} from apiServer.extraArgs has no effect: the feature gate is off.`);
    else {
      wrong(
        `--${flag} requires the feature gate UnknownVersionInteroperabilityProxy, which is off: remove --${flag}, or set` +
          ' --feature-gates=UnknownVersionInteroperabilityProxy=true.',
      );
    }
  }
}

function checkPeers(config: ProxyConfig, values: FlagValues, wrong: Say, note: Say): void {
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
  } else if (isLoopback(config.peerAdvertiseIp)) {
    note(`Peers are told to reach this Straddle at ${config.peerAdvertiseIp}: only servers on this machine can.`);
  }
  notePeerIdentity(config, note);
}

function notePeerIdentity(config: ProxyConfig, note: Say): void {
  const { leases, endpoints } = config.peerSources;
  if (!leases && !endpoints && config.staticPeers.length === 0) {
    note('No peers can be found: --peer-sources is empty and there is no --peer.');
  }
  if ((leases || endpoints) && !config.kubeconfig && !config.frontProxyCertificate) {
    note(
      'Straddle has no identity of its own to read leases and EndpointSlices with, so only --peer counts: give' +
        ' --proxy-client-cert-file and --proxy-client-key-file, or --kubeconfig.',
    );
  }
  if (!config.requestHeader.clientCaFile) {
    note(
      'Without --requestheader-client-ca-file no peer is believed, so requests that peers reroute to this Straddle are' +
        ' treated as if clients had sent them.',
    );
  }
}
