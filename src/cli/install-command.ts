import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatHostPort, type HostPort } from '../base/address.js';
import { ConfigError } from '../compose/config/config-error.js';
import { parseGoDurationMs } from '../compose/config/go-duration.js';
import { parseKubeconfig } from '../compose/config/kubeconfig.js';
import { objectMember, objectOrEmpty } from '../kube/json.js';
import { API_SERVER } from '../tools/install/api-server-manifest.js';
import { checkCertificates, fileOf } from '../tools/install/certificate-checks.js';
import type { Machine } from '../tools/install/endpoints.js';
import type { Finding } from '../tools/install/finding.js';
import { HostFiles } from '../tools/install/host-files.js';
import {
  type Addresses,
  type Surroundings as Around,
  install,
  restore,
  restoreNow,
  untilBack,
} from '../tools/install/installer.js';
import { type Journal, readJournal } from '../tools/install/journal.js';
import { checkKubeadmConfig, KUBEADM_CONFIG_TARGET, type KubeadmConfig } from '../tools/install/kubeadm-config.js';
import { PATCHES_DIR } from '../tools/install/kubeadm-patches.js';
import { ADMIN_KUBECONFIG, checkNode, checkServer, endpointBefore } from '../tools/install/node-checks.js';
import { hasImage, lockMachine, resolveName } from '../tools/install/node-ports.js';
import {
  diffText,
  type InstallPlan,
  type PlanOptions,
  planInstall,
  planText,
  readManifest,
} from '../tools/install/plan.js';
import { askAsStraddle, type ProbeCredentials, type ServerAnswer } from '../tools/install/server-probe.js';
import { type Sidecar, sidecarOf } from '../tools/install/sidecar.js';
import { checkUndo } from '../tools/install/undo.js';
import { kubeRequest } from './kube-access.js';
import { type Surroundings, stopSignal } from './surroundings.js';

const INSTALL_EXAMPLES = `
Puts a Straddle in front of the kube-apiserver of this control-plane node: the kube-apiserver moves to loopback and keeps its
port, Straddle takes the address of the node. Prints a plan, writes kubeadm patches, the manifest of the kube-apiserver and
the static pod of Straddle, waits until both are ready, and puts everything back if they are not. Run it as root, on one node
after the other; the rights are needed once per cluster.

Examples:
  $ straddle rbac | kubectl apply -f -
  $ straddle install --kubeadm --image=straddle:1.0.0 --dry-run
  $ straddle install --kubeadm --image=straddle:1.0.0
`;

const UNINSTALL_EXAMPLES = `
Undoes \`straddle install\` on this node, also one that was interrupted. A manifest that kubeadm has generated since then keeps
its new content, without Straddle's part.

Example:
  $ straddle uninstall
`;

/** How an installation reaches servers and passes time; tests replace it. */
export interface InstallPorts {
  readonly ask: (address: HostPort, target: string, credentials: ProbeCredentials) => Promise<ServerAnswer>;
  readonly delay: (ms: number) => Promise<void>;
  /** Reads the configuration of kubeadm as the user of a kubeconfig. */
  readonly kubeadmConfig: (kubeconfig: string, surroundings: Surroundings) => Promise<KubeadmConfig>;
  readonly resolve: Machine['resolve'];
  /** Whether the container runtime has an image; undefined if that cannot be seen. */
  readonly hasImage: (image: string) => Promise<boolean | undefined>;
  /** Rejects while another process changes the machine; returns how to let others do so. */
  readonly lock: (root: string) => Promise<() => void>;
}

const PORTS: InstallPorts = {
  ask: askAsStraddle,
  delay: (ms) => delay(ms),
  kubeadmConfig: readKubeadmConfig,
  resolve: resolveName,
  hasImage,
  lock: lockMachine,
};

interface PlaceOptions {
  readonly root: string;
  /** Milliseconds. */
  readonly timeout: number;
}

interface InstallOptions extends PlaceOptions {
  readonly kubeadm?: boolean;
  readonly image?: string;
  readonly manifestsDir: string;
  readonly patchesDir: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

export function addInstallCommands(program: Command, surroundings: Surroundings, ports: InstallPorts = PORTS): void {
  const placed = (command: Command) =>
    command
      .addOption(
        new Option('--timeout <duration>', 'longest wait for each server to become ready')
          .argParser(duration)
          .default(300_000, '5m'),
      )
      .option('--root <path>', 'folder that stands for / of the machine', '/');
  placed(program.command('install').description('Put a Straddle in front of the kube-apiserver of this kubeadm node'))
    .option('--kubeadm', 'the kube-apiserver is a static pod that kubeadm wrote; the only kind there is')
    .option('--image <image>', 'image of Straddle, which the kubelet must be able to pull')
    .option('--manifests-dir <path>', 'folder of static pods of the kubelet', absolutePath, '/etc/kubernetes/manifests')
    .option('--patches-dir <path>', 'folder of kubeadm patches', absolutePath, PATCHES_DIR)
    .option('--dry-run', 'print the plan and the files as a diff, and write nothing')
    .option('--force', 'go on although a check failed')
    .addHelpText('after', INSTALL_EXAMPLES)
    .action((options: InstallOptions) => runInstall(options, surroundings, ports));
  placed(program.command('uninstall').description('Undo `straddle install` on this node'))
    .addHelpText('after', UNINSTALL_EXAMPLES)
    .action((options: PlaceOptions) => runUninstall(options, surroundings, ports));
}

async function runInstall(options: InstallOptions, surroundings: Surroundings, ports: InstallPorts): Promise<void> {
  const { kubeadm, image, manifestsDir, patchesDir, dryRun } = options;
  if (!kubeadm)
    throw new ConfigError(['Give --kubeadm: only control planes of kubeadm can be changed by this command.']);
  if (!image)
    throw new ConfigError([
      'Give --image, an image of Straddle that the kubelet of this node can pull or has already.',
    ]);
  const place = { files: new HostFiles(options.root), manifestsDir, patchesDir, image };
  if (dryRun) {
    const { plan } = await planned(place, surroundings, ports);
    surroundings.stdout(`\n${diffText(plan)}`);
  } else await locked(options, ports, () => change(place, options, surroundings, ports));
}

/** Prints the plan and what was checked. */
async function planned(place: PlanOptions, surroundings: Surroundings, ports: InstallPorts) {
  refuseSecond(place.files);
  const plan = planInstall(place);
  const { findings, endpoint } = await check(plan, surroundings, ports);
  surroundings.stdout(planText(plan, findings, surroundings.addresses));
  return { plan, findings, endpoint };
}

async function change(
  place: PlanOptions,
  options: InstallOptions,
  surroundings: Surroundings,
  ports: InstallPorts,
): Promise<void> {
  const { files } = place;
  const { plan, findings, endpoint } = await planned(place, surroundings, ports);
  const failed = findings.filter(({ verdict }) => verdict === 'FAIL');
  if (failed.length > 0 && !options.force) {
    throw new ConfigError(failed.map(({ check: name, sentence }) => `Nothing was changed (${name}): ${sentence}`));
  }
  const node = formatHostPort(plan.manifest.node);
  await stoppable(files, surroundings, (signal) =>
    install(plan, { ...aroundOf({ files, sidecar: plan.sidecar, options, surroundings, ports, signal }), endpoint }),
  );
  surroundings.stdout(
    `Straddle is ready at ${node}, before the kube-apiserver at ${formatHostPort(plan.manifest.loopback)}.\n`,
  );
}

function refuseSecond(files: HostFiles): void {
  const journal = readJournal(files);
  if (!journal) return;
  const why =
    journal.state === 'installed'
      ? 'Straddle is installed on this node already'
      : 'An installation was interrupted on this node';
  throw new ConfigError([`${why}: run straddle uninstall first.`]);
}

async function locked({ root }: PlaceOptions, ports: InstallPorts, work: () => Promise<void>): Promise<void> {
  const unlock = await ports.lock(root);
  try {
    await work();
  } finally {
    unlock();
  }
}

/** `endpoint` is where clients reach the control plane now and must reach it afterwards; undefined if that is not known. */
async function check(
  plan: InstallPlan,
  surroundings: Surroundings,
  ports: InstallPorts,
): Promise<{ readonly findings: readonly Finding[]; readonly endpoint: HostPort | undefined }> {
  const { manifest, sidecar, options } = plan;
  const { files, manifestsDir, image } = options;
  const machine = { addresses: surroundings.addresses, resolve: ports.resolve };
  const certificates = checkCertificates({ files, manifest, sidecar, nowMs: surroundings.nowMs() });
  const node = await checkNode({ files, manifest, manifestsDir, machine });
  const credentials = credentialsOf(files, sidecar);
  const server = credentials && (await checkServer((target) => ports.ask(manifest.node, target, credentials)));
  const kubeconfig = files.readLinked(ADMIN_KUBECONFIG);
  const config: KubeadmConfig =
    kubeconfig === undefined
      ? { unreadable: `${ADMIN_KUBECONFIG} is missing` }
      : await ports.kubeadmConfig(kubeconfig, surroundings);
  const kubeadm = await checkKubeadmConfig(config, manifest, machine);
  const findings = [
    ...certificates,
    ...node,
    ...(server ?? []),
    ...kubeadm,
    checkImage(image, await ports.hasImage(image)),
  ];
  const endpoint = endpointBefore(files, manifest.node);
  const answer = endpoint && credentials && (await ports.ask(endpoint, '/readyz', credentials));
  return { findings, endpoint: answer?.kind === 'answer' && answer.status === 200 ? endpoint : undefined };
}

/** An image that is pulled while nobody answers at the node's address makes that time longer, or without an end. */
function checkImage(image: string, isHere: boolean | undefined): Finding {
  const check = 'image';
  if (isHere) return { verdict: 'ok', check, sentence: `${image} is on this node.` };
  const sentence =
    isHere === false ? `${image} is not on this node` : `crictl does not say whether ${image} is on this node`;
  return {
    verdict: isHere === false ? 'FAIL' : 'warn',
    check,
    sentence: `${sentence}: crictl pull ${image}. Otherwise it is pulled while nobody answers here.`,
  };
}

async function readKubeadmConfig(kubeconfig: string, surroundings: Surroundings): Promise<KubeadmConfig> {
  try {
    const access = parseKubeconfig(kubeconfig, { path: ADMIN_KUBECONFIG });
    const { status, body } = await kubeRequest(access, surroundings, { method: 'GET', path: KUBEADM_CONFIG_TARGET });
    const text = objectMember(objectOrEmpty(body), 'data')['ClusterConfiguration'];
    return status === 200 && typeof text === 'string' ? { text } : { unreadable: `the answer is ${status}` };
  } catch (error) {
    return { unreadable: (error as Error).message };
  }
}

async function runUninstall(options: PlaceOptions, surroundings: Surroundings, ports: InstallPorts): Promise<void> {
  await locked(options, ports, () => changeBack(options, surroundings, ports));
}

async function changeBack(options: PlaceOptions, surroundings: Surroundings, ports: InstallPorts): Promise<void> {
  const files = new HostFiles(options.root);
  const journal = readJournal(files);
  if (!journal) throw new ConfigError(['Nothing is installed on this node by straddle install.']);
  checkUndo(files, journal);
  const [addresses, sidecar] = placeOf(files, journal, surroundings);
  await stoppable(files, surroundings, async (signal) => {
    const around = aroundOf({ files, sidecar, options, surroundings, ports, signal });
    await restore(journal, addresses, around);
    if (addresses) await untilBack(addresses, around).catch(notBack);
  });
  surroundings.stdout('Straddle is uninstalled from this node; its RBAC objects are left.\n');
}

function notBack(error: Error): never {
  throw new Error(`All files are restored, but the kube-apiserver is not back yet: ${error.message}`, { cause: error });
}

/** Where to look for servers. Files are restored also where the manifest says nothing about that any more. */
function placeOf(
  files: HostFiles,
  { entries }: Journal,
  surroundings: Surroundings,
): [Addresses | undefined, Sidecar | undefined] {
  try {
    const path = entries.find((entry) => entry.path.endsWith(`/${API_SERVER}.yaml`))?.path ?? '';
    const manifest = readManifest(files, dirname(path));
    return [manifest, sidecarOf(manifest)];
  } catch (error) {
    surroundings.stderr(`${(error as Error).message} Files are restored without waiting for servers.\n`);
    return [undefined, undefined];
  }
}

function aroundOf(given: {
  readonly files: HostFiles;
  readonly sidecar: Sidecar | undefined;
  readonly options: PlaceOptions;
  readonly surroundings: Surroundings;
  readonly ports: InstallPorts;
  readonly signal: AbortSignal;
}): Around {
  const { files, sidecar, options, surroundings, ports, signal } = given;
  const credentials = sidecar && credentialsOf(files, sidecar);
  const askWith =
    (present: () => ProbeCredentials | undefined): Around['ask'] =>
    async (address, target) => {
      const shown = present();
      return shown ? ports.ask(address, target, shown) : { kind: 'failure', why: 'no certificates to ask with' };
    };
  return {
    files,
    ask: askWith(() => credentials),
    askAnew: askWith(() => sidecar && credentialsOf(files, sidecar)),
    say: (line) => surroundings.stdout(`${line}\n`),
    delay: ports.delay,
    nowMs: surroundings.nowMs,
    timeoutMs: options.timeout,
    signal,
  };
}

/** Returns the identity of Straddle; undefined while files are missing. */
function credentialsOf(files: HostFiles, sidecar: Sidecar): ProbeCredentials | undefined {
  const contents = ['peer-ca-file', 'proxy-client-cert-file', 'proxy-client-key-file'].map((flag) =>
    files.readLinked(fileOf({ sidecar }, flag)),
  );
  const [ca, cert, key] = contents;
  if (ca === undefined || cert === undefined || key === undefined) return undefined;
  const headers = sidecar.flags.find(([name]) => name === 'requestheader-username-headers')?.[1];
  return { ca, cert, key, userHeader: headers?.split(',')[0] || 'X-Remote-User' };
}

/** Does work that a first signal stops. A second one restores all files without a wait for servers and ends the process. */
async function stoppable(
  files: HostFiles,
  surroundings: Surroundings,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { stderr } = surroundings;
  surroundings.outlastTerminal();
  const stop = stopSignal(surroundings, () => {
    try {
      restoreNow(files, (line) => stderr(`${line}\n`));
      stderr('Stopped by a second signal: all files are restored, and no server was waited for.\n');
    } catch (error) {
      stderr(`${(error as Error).message}\nStopped by a second signal: mend that, then run straddle uninstall.\n`);
    }
    surroundings.exitNow(1);
  });
  try {
    await work(stop.signal);
  } finally {
    stop.forget();
  }
}

function absolutePath(value: string): string {
  if (!/^\/./.test(value)) throw new InvalidArgumentError('Give an absolute path.');
  return value.replace(/\/+$/, '');
}

function duration(value: string): number {
  const ms = parseGoDurationMs(value);
  if (ms === undefined || ms < 1_000 || ms > 3_600_000) throw new InvalidArgumentError('Give 1s to 1h, such as 5m.');
  return ms;
}
