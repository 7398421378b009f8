/** `npm run image`: the image of Straddle, by buildah; the same commit gives the same digest. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireProgram } from '../test/real/rig/debian-program.js';
import { baseTag, makeBuildContext } from './image/build-context.js';
import { type DebianBase, debianBase, makeDebianBase, updateDebianLock } from './image/debian-base.js';
import { dropBuildContainer } from './image/drop-build-container.js';
import { progress, runScript } from './image/progress.js';
import { runProgram } from './image/run-program.js';
import { ROOT, thisPlatform } from './image/self-contained-folder.js';
import { type SourceState, sourceState } from './image/source-state.js';

const USAGE = `Usage: npm run image -- [--name=<name>] [--base=<image>]
       npm run image -- --context=<folder>
       npm run image -- --update-base

Builds the image of Straddle from this checkout with buildah (no daemon; Debian package buildah) and prints its name, size, id and
digest. The same commit gives the same ones, with the same version of buildah. The id stays the same in each store and registry; the
digest is another one where the layers are compressed.

  --name=<name>        name without a tag, which is the version (default: straddle)
  --base=<image>       base image: glibc 2.28 or newer and libstdc++, no Node.js (default: made of the Debian packages in
                       scripts/image/debian-packages.json, which apt-get fetches)
  --context=<folder>   only writes the Containerfile and its files into a new folder, for another builder
  --update-base        locks the versions of the Debian packages that this machine's apt knows

Then, for example:
  podman run --rm straddle:<version> version
  buildah push straddle:<version> docker://registry.example/straddle:<version>
  buildah push straddle:<version> docker-archive:straddle.tar:registry.example/straddle:<version>
`;

const say = progress();

interface Build {
  readonly source: SourceState;
  readonly name: string;
  /** An image; undefined for the default base. */
  readonly base: string | undefined;
}

function build({ source, name, base }: Build): void {
  const buildah = requireProgram('buildah', 'buildah');
  const work = mkdtempSync(join(tmpdir(), 'straddle-image-'));
  try {
    const { cpu } = thisPlatform();
    const debian = base === undefined ? buildBase(buildah, join(work, 'base'), debianBase(cpu), source) : undefined;
    const baseImage = base ?? baseName(debian!);
    const context = join(work, 'context');
    mkdirSync(context);
    const { version } = makeBuildContext(context, { source, base: debian, say });
    const image = `${name}:${version}`;
    say(`buildah makes ${image} …`);
    const buildArgs = [`--build-arg=BASE=${baseImage}`, ...labelArguments(version, source)];
    runBuildah(buildah, source, [
      ...buildArgs,
      `--pull=${base === undefined ? 'never' : 'missing'}`,
      '--tag',
      image,
      context,
    ]);
    dropBuildContainer(buildah, image, join(work, 'image'));
    report(buildah, image);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** For the labels of the image. */
function labelArguments(version: string, { revision, epoch }: SourceState): readonly string[] {
  const values = { VERSION: version, REVISION: revision, CREATED: new Date(epoch * 1000).toISOString() };
  return Object.entries(values).map(([key, value]) => `--build-arg=${key}=${value}`);
}

/** The health check is part of the Docker format only. No step runs a program, so nothing needs a runtime. */
function runBuildah(buildah: string, { epoch }: SourceState, args: readonly string[]): void {
  const options = [
    '--format=docker',
    '--isolation=chroot',
    '--layers=false',
    '--identity-label=false',
    `--timestamp=${epoch}`,
  ];
  runProgram(buildah, ['build', ...options, ...args]);
}

function buildBase(buildah: string, folder: string, locked: DebianBase, source: SourceState): DebianBase {
  mkdirSync(join(folder, 'files'), { recursive: true });
  say(`making the base of ${locked.packages.length} Debian packages …`);
  const base = makeDebianBase(join(folder, 'files'), source.epoch, locked, say);
  const file = join(ROOT, 'scripts/image/Containerfile.base');
  runBuildah(buildah, source, ['--file', file, '--tag', baseName(base), folder]);
  dropBuildContainer(buildah, baseName(base), join(folder, 'image'));
  return base;
}

function baseName(base: DebianBase): string {
  return `localhost/straddle-base:${baseTag(base)}`;
}

function report(buildah: string, image: string): void {
  const [made] = JSON.parse(runProgram(buildah, ['images', '--json', '--no-trunc', image])) as [
    Readonly<Record<'id' | 'digest' | 'size', string>>,
  ];
  process.stdout.write(`${image}\nsize    ${made.size}\nid      ${made.id}\ndigest  ${made.digest}\n`);
}

function writeContext(folder: string, source: SourceState): void {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty: name a new folder.`);
  const { version } = makeBuildContext(folder, { source, base: undefined, say });
  const words = [
    'buildah build --format=docker',
    ...labelArguments(version, source),
    `--tag=straddle:${version}`,
    folder,
  ];
  process.stdout.write(`${folder} has the Containerfile and its files. For example:\n  ${words.join(' ')}\n`);
}

await runScript(() => {
  const { values } = parseArgs({
    options: {
      name: { type: 'string', default: 'straddle' },
      base: { type: 'string' },
      context: { type: 'string' },
      'update-base': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) process.stdout.write(USAGE);
  else if (values['update-base'])
    for (const line of updateDebianLock(thisPlatform().cpu)) process.stdout.write(`${line}\n`);
  else if (values.context !== undefined) writeContext(values.context, sourceState(ROOT));
  else build({ source: sourceState(ROOT), name: values.name, base: values.base });
});
