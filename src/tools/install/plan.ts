import { formatHostPort, isSameAddress } from '../../base/address.js';
import { ConfigError } from '../../compose/config/config-error.js';
import { API_SERVER, type ApiServerManifest, lastValue, readApiServerManifest } from './api-server-manifest.js';
import type { Finding } from './finding.js';
import type { HostFiles } from './host-files.js';
import type { Change } from './journal.js';
import { kubeadmPatches } from './kubeadm-patches.js';
import { movedBehind } from './manifest-edit.js';
import { type Sidecar, sidecarOf } from './sidecar.js';
import { STRADDLE_POD, straddlePod } from './straddle-pod.js';
import { unifiedDiff } from './unified-diff.js';

export interface PlanOptions {
  readonly files: HostFiles;
  readonly manifestsDir: string;
  readonly patchesDir: string;
  readonly image: string;
}

export interface InstallPlan {
  readonly manifest: ApiServerManifest;
  readonly sidecar: Sidecar;
  /** In the order of writing: patches, then the manifest of the kube-apiserver, then Straddle's. */
  readonly changes: readonly Change[];
  readonly options: PlanOptions;
}

/** Reads the node and returns what an installation would write. Throws ConfigError if it cannot be done here. */
export function planInstall(options: PlanOptions): InstallPlan {
  const { files, manifestsDir, patchesDir, image } = options;
  const manifest = readManifest(files, manifestsDir);
  if (manifest.isBehind) {
    throw new ConfigError([
      `The kube-apiserver in ${manifest.path} listens on loopback already, but nothing was installed by this command: remove its --bind-address first.`,
    ]);
  }
  const podPath = `${manifestsDir}/${STRADDLE_POD}`;
  if (files.read(podPath) !== undefined) {
    throw new ConfigError([`${podPath} is there already and was not written by this command: remove it first.`]);
  }
  const sidecar = sidecarOf(manifest);
  const moved = movedBehind(manifest);
  checkMoved(manifest, moved);
  const change = (path: string, after: string, why: string): Change => ({ path, before: files.read(path), after, why });
  const changes = [
    ...kubeadmPatches(manifest).map(({ name, text }) =>
      change(`${patchesDir}/${name}`, text, 'kubeadm upgrade keeps the changed manifest'),
    ),
    change(
      manifest.path,
      moved,
      `the kube-apiserver listens at ${formatHostPort(manifest.loopback)} and is probed there`,
    ),
    change(podPath, straddlePod(sidecar, image), `Straddle listens at ${formatHostPort(manifest.node)}`),
  ];
  return { manifest, sidecar, changes, options };
}

/** Arguments of the container follow its command, so that a flag among them wins over the one that is appended to the command. */
function checkMoved({ path }: ApiServerManifest, text: string): void {
  const { isBehind, flags } = readApiServerManifest(path, text);
  if (isBehind) return;
  throw new ConfigError([
    `--bind-address=${lastValue(flags, 'bind-address')} is in args of ${path}, which come after the command: move it into the command.`,
  ]);
}

export function readManifest(files: HostFiles, manifestsDir: string): ApiServerManifest {
  const path = `${manifestsDir}/${API_SERVER}.yaml`;
  const text = files.read(path);
  if (text === undefined) {
    throw new ConfigError([
      `${path} is not there: is this a control-plane node of kubeadm? --manifests-dir names another folder.`,
    ]);
  }
  return readApiServerManifest(path, text);
}

/** The plan for the operator: what changes, which traffic arrives where, what was checked. */
export function planText(
  { manifest, changes, options }: InstallPlan,
  findings: readonly Finding[],
  addresses: readonly string[],
): string {
  const node = formatHostPort(manifest.node);
  const loopback = formatHostPort(manifest.loopback);
  const others = addresses.filter(
    (address) => !isSameAddress(address, manifest.node.host) && !/^(127\.|::1$|fe80:)/.test(address),
  );
  const lines = [
    `kube-apiserver ${manifest.version ?? '(version unknown)'} of this node, advertised at ${node}`,
    '',
    'Files',
    ...changes.map(({ path, before, why }) => `  ${before === undefined ? 'new    ' : 'changed'}  ${path}: ${why}`),
    '',
    'Traffic',
    `  ${node}: Straddle, for kubelets, controllers, load balancers, kubeadm join and Service kubernetes; no kubeconfig changes`,
    `  ${loopback}: the kube-apiserver, for Straddle, for the probes of the kubelet, and for whoever uses it on this machine`,
    ...(others.length > 0 ? [`  port ${manifest.node.port} of ${others.join(', ')}: nobody any more`] : []),
    `  etcd (${lastValue(manifest.flags, 'etcd-servers') ?? 'not named'}): as before`,
    '',
    'Checks',
    ...findings.map(({ verdict, check, sentence }) => `  ${verdict.padEnd(4)}  ${check}: ${sentence}`),
    '',
    'From now on',
    `  kubeadm upgrade apply|node … --patches=${options.patchesDir}`,
    '  (without it the new kube-apiserver cannot have its port, and kubeadm may report success although it does not run)',
  ];
  return `${lines.join('\n')}\n`;
}

export function diffText({ changes }: InstallPlan): string {
  return changes.map(({ path, before, after }) => unifiedDiff(path, before, after)).join('');
}
