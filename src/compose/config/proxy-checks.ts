import { isLoopback, isUnspecified } from './addresses.js';
import type { FlagValues } from './flag-values.js';
import type { ProxyConfig } from './proxy-config.js';
import { checkServer, type Findings } from './server-checks.js';

/** Checks flags against each other: pairs that belong together, flags that contradict each other. */
export function checkProxyConfig(config: ProxyConfig, values: FlagValues, findings: Findings): void {
  checkServer(config, values, findings);
  checkIdentity(config, values, findings);
  checkUpstream(config, values, findings);
  notePeerIdentity(config, findings);
}

function checkIdentity(config: ProxyConfig, values: FlagValues, { wrong, note }: Findings): void {
  const cert = values.file('proxy-client-cert-file');
  const key = values.file('proxy-client-key-file');
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

function checkUpstream(config: ProxyConfig, values: FlagValues, { wrong }: Findings): void {
  const { upstream, bindAddress, securePort } = config;
  if (!upstream.caFile && values.source('peer-ca-file') === undefined) {
    wrong('Give --upstream-ca-file (or --peer-ca-file): the kube-apiserver is only spoken to over verified TLS.');
  }
  const straddleAddresses = [bindAddress, config.peerAdvertiseIp];
  const listensThere = isUnspecified(bindAddress)
    ? isLoopback(upstream.host) || isUnspecified(upstream.host) || straddleAddresses.includes(upstream.host)
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

function notePeerIdentity(config: ProxyConfig, { note }: Findings): void {
  if (!config.peeringActive) return;
  const { leases, endpoints } = config.peerSources;
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
