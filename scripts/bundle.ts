/** `npm run bundle`: Straddle with its Node.js in one folder, as a tar.gz; the same commit gives the same bytes. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { progress, runScript } from './image/progress.js';
import { runProgram } from './image/run-program.js';
import { makeSelfContainedFolder, NODE_PROGRAM, ROOT } from './image/self-contained-folder.js';
import { bytesBelow, settleFiles } from './image/settle-files.js';
import { sourceState } from './image/source-state.js';

const USAGE = `Usage: npm run bundle -- [--output=<file>]

Makes an archive with one folder that has Straddle, its packages, Node.js, licences and a bill of materials, and runs on any Linux of this
architecture with glibc 2.28 or newer (2.34 for the store of straddle apiserver) and libstdc++, wherever it is unpacked. The same commit gives the same bytes.

  --output=<file>   default: straddle-<version>-linux-<architecture>.tar.gz

Then, for example:
  tar -xzf straddle-0.1.0-linux-x64.tar.gz -C /opt
  /opt/straddle-0.1.0-linux-x64/bin/straddle manifest systemd --program=/opt/straddle-0.1.0-linux-x64/bin/straddle
`;

/** Compressed by the Node.js in the folder, because other releases compress to other bytes. */
const COMPRESS = `const { createReadStream, createWriteStream } = require('node:fs');
require('node:stream').pipeline(createReadStream(process.argv[1]), require('node:zlib').createGzip({ level: 9 }),
  createWriteStream(process.argv[2]), (error) => { if (error) throw error; });`;

const say = progress();

function bundle(output: string | undefined): void {
  const source = sourceState(ROOT);
  const work = mkdtempSync(join(tmpdir(), 'straddle-bundle-'));
  try {
    const made = join(work, 'folder');
    mkdirSync(join(made, 'lib'), { recursive: true });
    const { project, platform } = makeSelfContainedFolder(made, source, say);
    const name = `straddle-${project.version}-${platform.os}-${platform.cpu}`;
    renameSync(made, join(work, name));
    settleFiles(join(work, name), source.epoch);
    const target = resolve(output ?? `${name}.tar.gz`);
    say(`compressing ${name} …`);
    compress(work, name, target);
    const sha256 = createHash('sha256').update(readFileSync(target)).digest('hex');
    process.stdout.write(
      `${target}\nsize    ${megabytes(statSync(target).size)}, unpacked ${megabytes(bytesBelow(join(work, name)))}\nsha256  ${sha256}\n`,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function compress(work: string, name: string, target: string): void {
  const tar = join(work, 'bundle.tar');
  const plain = ['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
  runProgram('tar', [...plain, '-cf', tar, '-C', work, name]);
  mkdirSync(dirname(target), { recursive: true });
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    runProgram(join(work, name, NODE_PROGRAM), ['-e', COMPRESS, tar, unfinished]);
    renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

await runScript(() => {
  const { values } = parseArgs({ options: { output: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) process.stdout.write(USAGE);
  else bundle(values.output);
});
