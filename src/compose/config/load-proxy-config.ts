import { type HostPort, hostPortOf } from '../../base/address.js';
import { isLoopback } from './addresses.js';
import { ConfigError } from './config-error.js';
import type { FlagValues } from './flag-values.js';
import { type KubeconfigAccess, parseKubeconfig } from './kubeconfig.js';
import { assembleServer, type GivenFlags, loadConfig, type Machine, readOr } from './load-server-config.js';
import { checkProxyConfig } from './proxy-checks.js';
import type { ProxyConfig } from './proxy-config.js';

/** Throws ConfigError with all problems. */
export function loadProxyConfig(flags: GivenFlags, machine: Machine): ProxyConfig {
  return loadConfig(flags, machine, {
    name: 'proxy',
    assemble: (values, problems) => assemble(values, machine, problems),
    check: checkProxyConfig,
  });
}

function assemble(values: FlagValues, machine: Machine, problems: string[]): ProxyConfig {
  const server = assembleServer(values, machine);
  const upstream = hostPortOf(values.url('upstream'));
  return {
    ...server,
    upstream: {
      ...upstream,
      caFile: values.file('upstream-ca-file') ?? server.peerCaFile ?? '',
      serverName: values.text('upstream-server-name') || server.peerServerName,
      advertised: advertisedUpstream(upstream, server.peerAdvertiseIp),
    },
    kubeconfig: kubeconfig(values, machine, problems),
  };
}

/** Replaces a loopback address by the advertised one, unless all servers are on this machine. */
function advertisedUpstream(upstream: HostPort, advertiseIp: string): HostPort {
  const isKnownOnlyHere = upstream.host === 'localhost' || (isLoopback(upstream.host) && !isLoopback(advertiseIp));
  return isKnownOnlyHere ? { host: advertiseIp, port: upstream.port } : upstream;
}

function kubeconfig(values: FlagValues, machine: Machine, problems: string[]): KubeconfigAccess | undefined {
  const path = values.file('kubeconfig');
  const text = path === undefined ? undefined : readOr(machine, path, '--kubeconfig', problems);
  if (path === undefined || text === undefined) return undefined;
  try {
    return parseKubeconfig(text, { path });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}
