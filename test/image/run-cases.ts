import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../real/rig/eventually.js';
import { NODE_ADDRESS } from './container-engine.js';
import { IMAGE_USER } from './control-plane-node.js';
import { expectEqual, expectThat, type ImageCase, type Subject } from './image-case.js';

const API_SERVER = 'kube-apiserver';
const PROXY = 'proxy';
const POD_CONTAINER = 'straddle-straddle';
const API_SERVER_URL = 'https://127.0.0.1:6443';
const START_MS_MAX = 60_000;
/** Nothing that a container does not need. */
const CONFINED = [
  '--network=host',
  '--read-only',
  '--read-only-tmpfs=false',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
];

interface Container {
  readonly State: { readonly Pid: number; readonly ExitCode: number; readonly Status: string };
}

/** Resolves with what the page says once its status is good, as the health probe of the image sees it. */
async function untilGood({ engine, node }: Subject, container: string, url: string): Promise<string> {
  try {
    return await eventually(
      `${url} is good`,
      () => {
        const probe = ['straddle', 'probe', `--ca-file=${join(node.pki, 'ca.crt')}`, url];
        // The pod sees the authority at the same path as the node; the other containers have it at /pki.
        const args = container === POD_CONTAINER ? probe : probe.map((word) => word.replace(node.pki, '/pki'));
        const { status, out, err } = engine.run('podman', ['exec', container, ...args]);
        if (status !== 0) throw new Error(err);
        return out;
      },
      { timeoutMs: START_MS_MAX, intervalMs: 500 },
    );
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${engine.logs(container)}`);
  }
}

/** What the kernel says about the first process of a container. */
function confinementOf({ engine }: Subject, container: string) {
  const { Pid } = engine.inspect<Container>('container', container).State;
  const status = readFileSync(`/proc/${Pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1];
  return { user: Number(field('Uid')), capabilities: field('CapEff'), newPrivileges: field('NoNewPrivs') };
}

function expectReadOnly({ engine }: Subject, container: string): void {
  const program = `require('node:fs').writeFileSync('/opt/straddle/x', '')`;
  const { status, err } = engine.run('podman', ['exec', container, '/opt/straddle/lib/node', '-e', program]);
  expectThat(`the root file system can be written: ${err}`, status !== 0 && err.includes('EROFS'));
}

/** Resolves when a container has ended after SIGTERM. */
function stop({ engine }: Subject, container: string): string {
  const startedMs = Date.now();
  engine.podman('stop', '--time=45', container);
  const { ExitCode } = engine.inspect<Container>('container', container).State;
  expectEqual(`exit code of ${container}\n${engine.logs(container)}`, ExitCode, 0);
  return `${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
}

const certificates = (folder: string) => [
  `--tls-cert-file=${folder}/apiserver.crt`,
  `--tls-private-key-file=${folder}/apiserver.key`,
  `--client-ca-file=${folder}/ca.crt`,
  `--requestheader-client-ca-file=${folder}/front-proxy-ca.crt`,
  '--requestheader-allowed-names=front-proxy-client',
];

/** With its store, which is a native module, on a volume. It stands for the kube-apiserver in the cases that follow. */
async function apiServer(subject: Subject): Promise<string> {
  const { engine, node, image } = subject;
  const place = ['--bind-address=127.0.0.1', '--secure-port=6443', '--data-dir=/var/lib/straddle'];
  const volumes = ['--volume=data:/var/lib/straddle', `--volume=${node.userPki}:/pki:ro`];
  const command = ['apiserver', ...place, ...certificates('/pki')];
  engine.podman('run', '--detach', `--name=${API_SERVER}`, ...CONFINED, ...volumes, image, ...command);
  const ready = await untilGood(subject, API_SERVER, `${API_SERVER_URL}/readyz`);
  expectEqual('user, capabilities, new privileges', confinementOf(subject, API_SERVER), {
    user: IMAGE_USER,
    capabilities: '0000000000000000',
    newPrivileges: '1',
  });
  expectReadOnly(subject, API_SERVER);
  return `/readyz: ${ready}`;
}

/** Two workers: processes that the program starts with the Node.js of the image. */
async function proxy(subject: Subject): Promise<string> {
  const { engine, node, image } = subject;
  const place = [`--bind-address=${NODE_ADDRESS}`, '--secure-port=7443', `--upstream=${API_SERVER_URL}`, '--workers=2'];
  const peers = ['--peer-ca-file=/pki/ca.crt', '--proxy-client-cert-file=/pki/front-proxy-client.crt'];
  const command = [
    'proxy',
    ...place,
    ...certificates('/pki'),
    ...peers,
    '--proxy-client-key-file=/pki/front-proxy-client.key',
  ];
  const health = `--env=STRADDLE_PROBE_URL=https://${NODE_ADDRESS}:7443/livez`;
  const volume = `--volume=${node.userPki}:/pki:ro`;
  engine.podman('run', '--detach', `--name=${PROXY}`, ...CONFINED, volume, health, image, ...command);
  const ready = await untilGood(subject, PROXY, `https://${NODE_ADDRESS}:7443/readyz`);
  expectReadOnly(subject, PROXY);
  const { user } = confinementOf(subject, PROXY);
  expectEqual('user', user, IMAGE_USER);
  return `/readyz: ${ready}`;
}

async function health({ engine }: Subject): Promise<string> {
  const check = () => engine.run('podman', ['healthcheck', 'run', PROXY]).status;
  expectEqual('status of the health check', check(), 0);
  engine.podman('pause', API_SERVER);
  try {
    // Longer than the proxy takes to see that its server hangs.
    await delay(5_000);
    expectEqual('status of the health check while the API server hangs', check(), 0);
  } finally {
    engine.podman('unpause', API_SERVER);
  }
  const elsewhere = engine.run('podman', ['exec', PROXY, 'straddle', 'probe', `https://${NODE_ADDRESS}:1/livez`]);
  expectEqual('status of a probe of nobody', elsewhere.status, 1);
  return 'also while the API server hangs';
}

/** The pod as `straddle manifest pod` prints it; only the folder for its state is not the one of this machine. */
async function staticPod(subject: Subject): Promise<string> {
  const { engine, node, folder } = subject;
  const printed = engine.run(join(folder, 'bin/straddle'), ['manifest', 'pod', `--from=${node.manifest}`]);
  expectEqual(`straddle manifest pod: ${printed.err}`, printed.status, 0);
  expectThat(`the pod names another image than ${subject.image}`, printed.out.includes(`image: ${subject.image}\n`));
  const state = join(engine.folder, 'state');
  const pod = join(engine.folder, 'straddle.yaml');
  writeFileSync(pod, `${printed.out.replace('path: /var/lib/straddle', `path: ${state}`)}\n`);
  engine.podman('kube', 'play', pod);
  const ready = await untilGood(subject, POD_CONTAINER, `https://${NODE_ADDRESS}:6443/readyz`);
  expectEqual('user, capabilities, new privileges', confinementOf(subject, POD_CONTAINER), {
    user: 0,
    capabilities: '0000000000000000',
    newPrivileges: '1',
  });
  expectReadOnly(subject, POD_CONTAINER);
  expectThat('the folder for the state was not made', existsSync(state));
  const took = stop(subject, POD_CONTAINER);
  engine.podman('kube', 'down', pod);
  return `/readyz: ${ready}; SIGTERM: ${took}`;
}

function endings(subject: Subject): string {
  return `${PROXY} ${stop(subject, PROXY)}, ${API_SERVER} ${stop(subject, API_SERVER)}`;
}

/** Runs the unpacked archive without an environment, in a mount namespace where the machine's own Node.js is an empty file. */
function alone({ engine, folder }: Subject): string {
  const hide = 'mount --make-rprivate / && mount --bind /dev/null "$0" && exec env -i PATH= "$@"';
  const program = join(folder, 'bin/straddle');
  const run = (...args: string[]) =>
    spawnSync('unshare', ['--mount', 'sh', '-c', hide, process.execPath, ...args], { encoding: 'utf8' });
  const hidden = run(process.execPath, '--version');
  expectThat(`the machine's Node.js is still there: ${hidden.stdout}`, hidden.status !== 0);
  const { status, stdout, stderr } = run(program, 'version');
  expectEqual(`straddle version: ${stderr}`, status, 0);
  const used = spawnSync(join(folder, 'lib/node'), ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1);
  expectThat(`another Node.js was used: ${stdout}`, stdout.includes(`(Node.js ${used})`));
  mkdirSync(join(engine.folder, 'bin'));
  const link = join(engine.folder, 'bin/straddle');
  expectEqual('link', spawnSync('ln', ['-s', program, link]).status, 0);
  expectEqual('status through a link', run(link, 'version').stdout, stdout);
  return stdout.trim();
}

function unit({ engine, node, folder }: Subject): string {
  const program = join(folder, 'bin/straddle');
  const { status, out, err } = engine.run(program, [
    'manifest',
    'systemd',
    `--from=${node.manifest}`,
    `--program=${program}`,
  ]);
  expectEqual(`straddle manifest systemd: ${err}`, status, 0);
  expectThat('the unit starts another program', out.includes(`\nExecStart=${program} \\\n`));
  const analyze = engine.run('sh', ['-c', 'command -v systemd-analyze']);
  if (analyze.status !== 0) return 'not verified: there is no systemd-analyze on this machine';
  const file = join(engine.folder, 'straddle.service');
  writeFileSync(file, `${out}\n`);
  const verified = engine.run('systemd-analyze', ['verify', '--man=no', file]);
  const about = `${verified.out}\n${verified.err}`.split('\n').filter((line) => line.includes('straddle.service'));
  expectEqual('systemd-analyze verify', about, []);
  return 'systemd-analyze has nothing to say';
}

/** The command line of the unit, in a server's whole life. */
async function unitCommand(subject: Subject): Promise<string> {
  const { engine, folder } = subject;
  const data = join(engine.folder, 'data');
  const program = join(folder, 'bin/straddle');
  const script =
    'exec "$0" apiserver --data-dir="$1" --bind-address=127.0.0.1 --secure-port=8443 >"$1.log" 2>&1 & echo $!';
  const pid = Number(engine.run('sh', ['-c', script, program, data], {}).out);
  try {
    await eventually(
      "the archive's API server is ready",
      () => engine.run(program, ['probe', 'https://127.0.0.1:8443/readyz'], {}).status === 0,
      { timeoutMs: START_MS_MAX, intervalMs: 500 },
    );
    process.kill(pid, 'SIGTERM');
    await eventually('it ends after SIGTERM', () => !existsSync(`/proc/${pid}`), { timeoutMs: 45_000 });
    const log = readFileSync(`${data}.log`, 'utf8');
    expectThat(`it did not stop in order:\n${log}`, log.includes('"msg":"stopped"'));
    return 'ready, and stopped in order';
  } finally {
    if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  }
}

export const runCases: readonly ImageCase[] = [
  {
    name: 'podman run: straddle apiserver is ready, not as root and with nothing to write but its volume',
    run: apiServer,
  },
  { name: 'podman run: straddle proxy with workers is ready in the same way', run: proxy },
  { name: 'the health check of the image tells a live Straddle from none', run: health },
  {
    name: 'podman kube play: the generated static pod is ready, as root without capabilities, and ends with 0',
    run: staticPod,
  },
  { name: 'SIGTERM ends the containers with 0', run: endings },
  { name: 'the archive runs with an empty PATH and without another Node.js, also through a link', run: alone },
  { name: 'the archive runs a server until SIGTERM', run: unitCommand },
  { name: 'the generated systemd unit fits the archive', run: unit },
];
