import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { newestOf, type ServerVersions } from './chosen-servers.js';
import { type KubeVersion, MODULES_DIR, minorOf, moduleOf } from './pinned-versions.js';

/** One program of the rig: a package of an ordinary Go module, built with that module's own go.sum. */
export interface Binary {
  readonly name: string;
  /** Folder under test/real/modules. */
  readonly module: string;
  readonly package: string;
  /** A file beside go.mod with other versions of the dependencies. */
  readonly modFile?: string;
  /** Stamped into the program; Kubernetes derives what it serves from it. */
  readonly version?: string;
}

/** HTTP/2 conformance cases (github.com/summerwind/h2spec). */
export const H2SPEC = 'h2spec-2.2.1';
/** Requests of Go's net/http client; the sources are in this repository. */
export const HTTP2_CLIENT = ofSources('http2-client');

/** A shared informer of client-go, in one program for each of these versions; the sources are in this repository. */
export const INFORMER_VERSIONS = ['0.35', '0.37'] as const;
export type InformerVersion = (typeof INFORMER_VERSIONS)[number];
const INFORMER = ofSources('informer');

export function informerName(version: InformerVersion): string {
  return `${INFORMER}-client-go-${version}`;
}

const informer = (version: InformerVersion): Binary => ({
  name: informerName(version),
  module: 'informer',
  package: '.',
  modFile: `client-go-${version}.mod`,
});

const ETCD: Binary = { name: 'etcd', module: 'etcd', package: 'go.etcd.io/etcd/server/v3' };

/** An aggregated API server; of one version for all. */
export const SAMPLE_APISERVER = kubernetes('sample-apiserver', 'k8s.io/sample-apiserver', 'v1.36.4');

export const INFORMERS: readonly Binary[] = INFORMER_VERSIONS.map(informer);

/** The clients of `npm run test:interop`. */
export const INTEROP_BINARIES: readonly Binary[] = [
  { name: H2SPEC, module: 'h2spec', package: 'github.com/summerwind/h2spec/cmd/h2spec' },
  { name: HTTP2_CLIENT, module: 'http2-client', package: '.' },
];

/** What the newest module's go.mod asks for. */
const GO_MINIMUM = { major: 1, minor: 26 };

/** The name of a program whose sources are here: another one when they change, or the cache would keep the old program. */
function ofSources(module: string): string {
  const hash = createHash('sha256');
  const dir = join(MODULES_DIR, module);
  for (const file of readdirSync(dir).sort()) hash.update(`${file}\n`).update(readFileSync(join(dir, file)));
  return `${module}-${hash.digest('hex').slice(0, 12)}`;
}

function kubernetes(name: string, packagePath: string, version: KubeVersion): Binary {
  return { name, module: moduleOf(minorOf(version)), package: packagePath, version };
}

/** Programs of a release of Kubernetes that are built for more than one release, hence the release in their names. */
export const KUBE_PROGRAMS = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubeadm',
  'kubectl',
] as const;
/** Programs whose dependencies are pinned with each release: those, and the kubelet, which is built for one release only. */
export const PINNED_PROGRAMS = [...KUBE_PROGRAMS, 'kubelet'] as const;
export type KubeProgram = (typeof PINNED_PROGRAMS)[number];

export function programName(program: KubeProgram, version: KubeVersion): string {
  return `${program}-${version}`;
}

export function kubeProgram(program: KubeProgram, version: KubeVersion): Binary {
  return kubernetes(programName(program, version), `k8s.io/kubernetes/cmd/${program}`, version);
}

/** One kube-apiserver and its etcd. */
export function serverBinaries(version: KubeVersion): readonly Binary[] {
  return [ETCD, kubeProgram('kube-apiserver', version)];
}

/** A control plane of these servers, and its kubectl. */
export function planeBinaries(servers: ServerVersions): readonly Binary[] {
  return [kubeProgram('kubectl', newestOf(servers)), ...Object.values(servers).flatMap(serverBinaries)];
}

/** Where what is missing gets built. */
export function cacheDir(): string {
  const cache = process.env['XDG_CACHE_HOME'];
  return join(cache !== undefined && cache !== '' ? cache : join(homedir(), '.cache'), 'straddle', 'real-bin');
}

/** The program to run: from the folder named by `STRADDLE_REAL_BIN` if it is there, else from the cache. */
export function binaryPath(name: string): string {
  const named = process.env['STRADDLE_REAL_BIN'];
  if (named !== undefined && named !== '' && isExecutable(join(named, name))) return join(named, name);
  return join(cacheDir(), name);
}

function missing(binaries: readonly Binary[]): Binary[] {
  const byName = new Map(binaries.map((binary) => [binary.name, binary]));
  return [...byName.values()].filter((binary) => !isExecutable(binaryPath(binary.name)));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Builds what is missing, one after another: a Kubernetes link step alone needs gigabytes. */
export async function ensureBinaries(say: (line: string) => void, binaries: readonly Binary[]): Promise<void> {
  const toBuild = missing(binaries);
  if (toBuild.length === 0) return;
  requireGo();
  const dir = cacheDir();
  mkdirSync(dir, { recursive: true });
  for (const [index, binary] of toBuild.entries()) {
    say(`building ${binary.name} (${index + 1} of ${toBuild.length}, the first build takes minutes) …`);
    const startedMs = Date.now();
    await build(binary, dir);
    say(`built ${binary.name} in ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
  }
}

function requireGo(): void {
  const found = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', cwd: MODULES_DIR });
  const wanted = `Go ${GO_MINIMUM.major}.${GO_MINIMUM.minor} or newer`;
  if (found.error !== undefined || found.status !== 0) {
    throw new Error(
      `${wanted} is needed to build the real servers, but \`go\` cannot be run. Install it, or name a folder with the binaries in STRADDLE_REAL_BIN.`,
    );
  }
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(found.stdout.trim()) ?? [];
  if (Number(major) !== GO_MINIMUM.major || Number(minor) < GO_MINIMUM.minor) {
    throw new Error(`${wanted} is needed to build the real servers; this is ${found.stdout.trim()}.`);
  }
}

/** Into a temporary name first: a build that is interrupted never leaves half a program under the final one. */
async function build(binary: Binary, dir: string): Promise<void> {
  const target = join(dir, binary.name);
  const unfinished = `${target}.${process.pid}.tmp`;
  const args = [
    'build',
    '-mod=readonly',
    ...(binary.modFile === undefined ? [] : [`-modfile=${binary.modFile}`]),
    '-trimpath',
    '-ldflags',
    linkerFlags(binary),
    '-o',
    unfinished,
    binary.package,
  ];
  try {
    await runGo(args, join(MODULES_DIR, binary.module));
    renameSync(unfinished, target);
  } catch (error) {
    throw new Error(`cannot build ${binary.name}: ${(error as Error).message}`);
  } finally {
    if (existsSync(unfinished)) rmSync(unfinished);
  }
}

function linkerFlags({ version }: Binary): string {
  const strip = '-s -w';
  if (version === undefined) return strip;
  const minor = version.split('.')[1];
  const variables = {
    'k8s.io/component-base/version.gitVersion': version,
    'k8s.io/component-base/version.gitMajor': '1',
    'k8s.io/component-base/version.gitMinor': minor,
    'k8s.io/client-go/pkg/version.gitVersion': version,
  };
  return [strip, ...Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`)].join(' ');
}

function runGo(args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // GOWORK=off: a workspace file above the checkout must not change what is built.
    const child = spawn('go', args, {
      cwd,
      stdio: 'inherit',
      env: { ...process.env, GOWORK: 'off', CGO_ENABLED: '0' },
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`go build ended with ${signal ?? `code ${code}`}`)),
    );
  });
}
