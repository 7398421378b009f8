import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binaryPath, programName } from '../../real/rig/binaries.js';
import { requireProgram } from '../../real/rig/debian-program.js';
import type { KubeVersion } from '../../real/rig/pinned-versions.js';
import type { Machine } from '../cluster/machine.js';
import { mustRun } from '../cluster/run-command.js';
import { STRADDLE_IMAGE } from '../kubelet/image-program.js';
import { writeScratchImage } from './scratch-image.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const REPOSITORY = 'images.example';
const PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
/** With a compiler, and the packages of the lock file from the network. */
const IMAGE_MS_MAX = 600_000;
/** Where the images lie in the store of a node; kubelets look there. */
const STORE = ['ctr', '--namespace=k8s.io', 'images'] as const;

/** An image in a file. */
interface Archive {
  readonly file: string;
  readonly name: string;
}

/** Without mounts: nothing is left in the mount table, whatever ends the test. */
function storageIn(dir: string): NodeJS.ProcessEnv {
  const config = join(dir, 'storage.conf');
  writeFileSync(config, `[storage]\ndriver = "vfs"\ngraphroot = "${dir}/storage"\nrunroot = "${dir}/run"\n`);
  return { ...process.env, CONTAINERS_STORAGE_CONF: config };
}

/**
 * Makes the images of a node: that of Straddle from this checkout as `npm run image` does, which needs the network; the programs of each
 * version; etcd; and a pause image of Debian's catatonit.
 */
export async function makeNodeImages(dir: string, versions: readonly KubeVersion[]): Promise<void> {
  const env = storageIn(dir);
  const script = join(ROOT, 'scripts', 'image.ts');
  const name = STRADDLE_IMAGE.replace(/:[^:]*$/, '');
  const made = [process.execPath, '--import', import.meta.resolve('tsx'), script, `--name=${name}`];
  await mustRun(made, { env, timeoutMs: IMAGE_MS_MAX });
  await pushed({ file: straddleFile(dir), name: STRADDLE_IMAGE }, env);
  rmSync(join(dir, 'storage'), { recursive: true, force: true });
  const onPath = { Env: ['PATH=/usr/local/bin'] };
  for (const version of versions) {
    const files = Object.fromEntries(
      PROGRAMS.map((program) => [`usr/local/bin/${program}`, binaryPath(programName(program, version))]),
    );
    const { file, name: called } = programs(dir, version);
    await writeScratchImage(file, { name: called, files, config: onPath });
  }
  const ofEtcd = { name: etcd(dir).name, files: { 'usr/local/bin/etcd': binaryPath('etcd') }, config: onPath };
  await writeScratchImage(etcd(dir).file, ofEtcd);
  const files = { pause: requireProgram('catatonit', 'catatonit') };
  const config = { User: '65535:65535', Entrypoint: ['/pause', '-P'] };
  await writeScratchImage(pause(dir).file, { name: pause(dir).name, files, config });
}

/** Puts the images into the store of a node, under the names that kubeadm gives them for these versions. */
export async function importNodeImages(
  dir: string,
  machine: Machine,
  named: ReadonlyMap<KubeVersion, readonly string[]>,
): Promise<void> {
  const take = async ({ file, name }: Archive, names: readonly string[]) => {
    await machine.mustRun(...STORE, 'import', file);
    for (const each of new Set(names)) if (each !== name) await machine.mustRun(...STORE, 'tag', name, each);
  };
  const all = [...named.values()].flat();
  await take({ file: straddleFile(dir), name: STRADDLE_IMAGE }, []);
  await take(etcd(dir), all.filter(isOf('etcd')));
  await take(pause(dir), all.filter(isOf('pause')));
  for (const [version, names] of named) {
    await take(
      programs(dir, version),
      names.filter((name) => PROGRAMS.some((program) => isOf(program)(name))),
    );
  }
}

/** The pause image among the names of kubeadm. */
export function pauseImage(names: readonly string[]): string {
  const found = names.find(isOf('pause'));
  if (found === undefined) throw new Error(`kubeadm names no pause image: ${names.join(', ')}`);
  return found;
}

function isOf(program: string): (image: string) => boolean {
  return (image) => image.startsWith(`${REPOSITORY}/${program}:`);
}

const straddleFile = (dir: string): string => join(dir, 'straddle.tar');
const archive = (dir: string, what: string): Archive => ({
  file: join(dir, `${what}.tar`),
  name: `${REPOSITORY}/made-${what}:1`,
});
const programs = (dir: string, version: KubeVersion): Archive => archive(dir, `programs-${version}`);
const etcd = (dir: string): Archive => archive(dir, 'etcd-only');
const pause = (dir: string): Archive => archive(dir, 'pause-only');

async function pushed({ file, name }: Archive, env: NodeJS.ProcessEnv): Promise<void> {
  const buildah = requireProgram('buildah', 'buildah');
  await mustRun([buildah, 'push', '--quiet', name, `docker-archive:${file}:${name}`], { env });
}
