import { join } from 'node:path';
import { loadSurface } from '../../apiserver/surfaces/load-surface.js';
import { notShipped } from '../../apiserver/surfaces/shipped-versions.js';
import { hostPortOf } from '../../base/address.js';
import { systemClock } from '../../base/clock.js';
import { type ApiServerConfig, CONTROLLER_CHOICES } from '../../compose/config/api-server-config.js';
import type { FlagName } from '../../compose/config/flags.js';
import { loadApiServerConfig, PKI_NAMES } from '../../compose/config/load-api-server-config.js';
import { makePki } from '../../compose/pki.js';
import { loadServerTls } from '../../compose/server-tls.js';
import { Destinations } from '../../http/client/destinations.js';
import {
  type ControlPlaneOptions,
  logFile,
  PLANE_HOST,
  SHUTDOWN_DELAY,
  serverAddress,
  serverName,
} from './control-plane-options.js';
import { descriptionsByVersion } from './descriptions-by-version.js';
import { writeMirrorPod } from './mirror-pod.js';
import type { PlaneMaterial } from './plane-material.js';
import { ProcessMember } from './process-member.js';

/** Prepares `straddle apiserver` processes on one store. */
export async function planeOfEmbeddedServers(
  options: ControlPlaneOptions,
  versions: readonly string[],
): Promise<PlaneMaterial> {
  const { dataDir, machine, logger, progress, note } = options;
  for (const version of new Set(versions)) await checkVersion(version, '--versions');
  const descriptions = await descriptionsByVersion(options.descriptionsFiles ?? []);
  progress('making certificates');
  const flags: [FlagName, string[]][] = [
    ['data-dir', [dataDir]],
    ['server-name', ['front']],
    ['bind-address', [PLANE_HOST]],
  ];
  const config = loadApiServerConfig(new Map(flags), machine);
  const pki = (await makePki(config))!;
  const tls = await loadServerTls(config, { logger, clock: systemClock });
  const destinations = new Destinations(() => tls.peerTls());
  const members = versions.map((version, index) => {
    const name = serverName(index);
    const destination = destinations.make(serverAddress(options, index));
    const flagsOf = (running: string): string[] =>
      serverFlags(options, config, { index, version: running, descriptionsFile: descriptions.get(running) });
    return new ProcessMember({
      name,
      version,
      destination,
      logFile: logFile(dataDir, name),
      command: (running) => [...options.self, 'apiserver', ...flagsOf(running)],
      onReady: (running) =>
        writeMirrorPod(destination, {
          server: name,
          version: running,
          command: ['straddle', 'apiserver', ...flagsOf(running)],
          host: PLANE_HOST,
          nowMs: Date.now(),
        }),
      restart: options.restart,
      note,
      clock: systemClock,
    });
  });
  return { members, tls, pki, frontProxyNames: [PKI_NAMES.frontProxyClient], prepare: async () => {} };
}

/** Rejects for a version without a surface that can be read: the server's own message would be in its log only. */
export async function checkVersion(version: string, flag: string): Promise<void> {
  const problem = notShipped(version);
  if (problem !== undefined) throw new Error(`${flag}: ${problem}.`);
  await loadSurface(version);
}

interface ServerFlags {
  readonly index: number;
  readonly version: string;
  readonly descriptionsFile: string | undefined;
}

/** Returns every relevant flag, defaults included, because the mirror pod shows them. */
function serverFlags(
  options: ControlPlaneOptions,
  config: ApiServerConfig,
  { index, version, descriptionsFile }: ServerFlags,
): string[] {
  const { dataDir, proxy, etcdServers, runtimeConfig, controllers } = options;
  const { port } = hostPortOf(new URL(`https://${serverAddress(options, index)}`));
  const pki = (name: string): string => join(config.pkiDir, name);
  const peerFlags = proxy
    ? [
        `--peer-ca-file=${pki(`${PKI_NAMES.ca}.crt`)}`,
        `--peer-advertise-ip=${PLANE_HOST}`,
        `--peer-advertise-port=${port}`,
      ]
    : [];
  return [
    `--data-dir=${dataDir}`,
    `--server-name=${serverName(index)}`,
    `--bind-address=${PLANE_HOST}`,
    `--secure-port=${port}`,
    `--kubernetes-version=${version}`,
    ...(descriptionsFile === undefined ? [] : [`--descriptions-file=${descriptionsFile}`]),
    `--feature-gates=UnknownVersionInteroperabilityProxy=${proxy}`,
    ...peerFlags,
    `--client-ca-file=${pki(`${PKI_NAMES.ca}.crt`)}`,
    `--requestheader-client-ca-file=${pki(`${PKI_NAMES.frontProxyCa}.crt`)}`,
    `--requestheader-allowed-names=${PKI_NAMES.frontProxyClient}`,
    `--proxy-client-cert-file=${pki(`${PKI_NAMES.frontProxyClient}.crt`)}`,
    `--proxy-client-key-file=${pki(`${PKI_NAMES.frontProxyClient}.key`)}`,
    `--controllers=${controllers ? CONTROLLER_CHOICES.join(',') : ''}`,
    `--shutdown-delay=${SHUTDOWN_DELAY}`,
    '--admin-kubeconfig=',
    '--log-format=json',
    ...etcdServers.map((each) => `--etcd-servers=${each}`),
    ...runtimeConfig.map((each) => `--runtime-config=${each}`),
  ];
}
