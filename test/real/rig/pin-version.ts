import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PINNED_PROGRAMS } from './binaries.js';
import { type KubeVersion, MODULES_DIR, minorOf, moduleOf } from './pinned-versions.js';

const KUBERNETES = 'k8s.io/kubernetes';
/** Programs that the rig builds of a version. */
const PROGRAMS = PINNED_PROGRAMS.map((name) => `${KUBERNETES}/cmd/${name}`);
/** Releases in a row that are not there: then there are no more. */
const MISSES_MAX = 5;
const GO_OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Makes `modules/kube-1.NN` anew for a minor version (its newest release that the module proxy gives) or for one release:
 * go.mod pins Kubernetes and the modules that are published with it, go.sum has the hashes of all that is built.
 */
export function pinVersion(wanted: string, say: (line: string) => void): KubeVersion {
  const [, minor, patch] = /^v?(1\.\d+)(\.\d+)?$/.exec(wanted) ?? [];
  if (minor === undefined)
    throw new Error(`${wanted} is no version of Kubernetes: give 1.37, or 1.37.1 for one release.`);
  const releases = patch === undefined ? releasesOf(minor) : [`v${minor}${patch}` as KubeVersion];
  for (const version of releases) {
    try {
      const goMod = downloaded(version);
      writeModule(version, goMod);
      say(`pinned ${version}`);
      return version;
    } catch (error) {
      say(`${version} cannot be had: ${firstLine(error)}`);
    }
  }
  throw new Error(`The Go module proxy has no release of ${KUBERNETES} ${minor} that can be built.`);
}

/**
 * The releases of a minor version that the module proxy has, newest first. Each is asked for by its number: a proxy's list
 * of versions has only those that somebody asked it for before.
 */
function releasesOf(minor: string): KubeVersion[] {
  return inScratchModule((dir) => {
    const found: KubeVersion[] = [];
    for (let patch = 0, misses = 0; misses < MISSES_MAX; patch++) {
      const version = `v${minor}.${patch}` as KubeVersion;
      try {
        go(['list', '-m', `${KUBERNETES}@${version}`], dir);
        found.unshift(version);
        misses = 0;
      } catch {
        misses++;
      }
    }
    return found;
  });
}

/** The go.mod of a release whose archive could be downloaded. */
function downloaded(version: KubeVersion): string {
  return inScratchModule((dir) => {
    go(['mod', 'download', `${KUBERNETES}@${version}`], dir);
    return readFileSync(go(['list', '-m', '-f', '{{.GoMod}}', `${KUBERNETES}@${version}`], dir).trim(), 'utf8');
  });
}

function writeModule(version: KubeVersion, goMod: string): void {
  const module = moduleOf(minorOf(version));
  const dir = mkdtempSync(join(MODULES_DIR, `${module}-`));
  try {
    writeFileSync(join(dir, 'go.mod'), moduleText(version, goMod));
    // -deps loads every package of the programs, and -mod=mod writes the hashes of their modules.
    go(['list', '-mod=mod', '-deps', '-f', '{{""}}', ...PROGRAMS], dir);
    const target = join(MODULES_DIR, module);
    rmSync(target, { recursive: true, force: true });
    renameSync(dir, target);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Modules published together with Kubernetes 1.37.1 are v0.37.1; its own go.mod names them with v0.0.0. */
function moduleText(version: KubeVersion, goMod: string): string {
  const goVersion = /^go (\S+)$/m.exec(goMod)?.[1];
  const published = [...goMod.matchAll(/^\s*(k8s\.io\/\S+) v0\.0\.0$/gm)].map(([, name]) => name!).sort();
  if (goVersion === undefined || published.length === 0) throw new Error(`go.mod of ${version} has an unknown form`);
  const lines = published.map((name) => `\t${name} ${version.replace(/^v1\./, 'v0.')}\n`);
  return `module straddle.test/real/${moduleOf(minorOf(version))}

go ${goVersion}

require (
\t${KUBERNETES} ${version}
${lines.join('')})
`;
}

function inScratchModule<T>(use: (dir: string) => T): T {
  const dir = mkdtempSync(join(tmpdir(), 'straddle-go-'));
  try {
    writeFileSync(join(dir, 'go.mod'), 'module straddle.test/scratch\n');
    return use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function go(args: readonly string[], cwd: string): string {
  const env = { ...process.env, GOWORK: 'off', CGO_ENABLED: '0' };
  return execFileSync('go', args, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: GO_OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
  const lines = (stderr?.trim() || message).split('\n');
  return lines.find((line) => !line.startsWith('go: downloading ')) ?? lines[0]!;
}
