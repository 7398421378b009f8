import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../../scripts/image/run-program.js';
import type { ContainerEngine } from './container-engine.js';
import { expectEqual, expectThat, type ImageCase, type Subject } from './image-case.js';

const ROOT = join(import.meta.dirname, '../..');
const SIZE_MAX = 150e6;

/** Surroundings that must not show in what is built. */
const OTHER = { umask: '0077', TZ: 'Asia/Kolkata', LANG: 'C.UTF-8' };

/** Runs a command as on a terminal, under a umask, and returns its standard output. Its progress is shown. */
function npm(
  engine: ContainerEngine,
  args: readonly string[],
  { umask = '0022', ...environment } = {},
): Promise<string> {
  const TMPDIR = join(engine.folder, `tmp-${umask}`);
  mkdirSync(TMPDIR, { recursive: true });
  const env = { ...engine.environment, ...environment, TMPDIR };
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `umask ${umask} && exec npm run --silent "$@"`, 'sh', ...args], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(out.trim()) : reject(new Error(`npm run ${args[0]}: code ${code}`)),
    );
  });
}

const lineOf = (printed: string, word: string): string | undefined =>
  printed.split('\n').find((line) => line.startsWith(word));

async function buildTwice(subject: Subject): Promise<string> {
  const { engine } = subject;
  const first = await npm(engine, ['image']);
  const second = await npm(engine, ['image', '--', '--name=again'], OTHER);
  const [image, again] = [first, second].map((printed) => printed.split('\n')[0]!);
  expectThat(`the first line is no name of an image: ${image}`, /^straddle:\d+\.\d+\.\d+$/.test(image!));
  expectEqual('digests', lineOf(second, 'digest'), lineOf(first, 'digest'));
  const ids = [image!, again!].map((name) => engine.inspect<{ Id: string; Digest: string }>('image', name));
  expectEqual('ids of the images', ids[1]!.Id, ids[0]!.Id);
  expectEqual('id that is printed', lineOf(first, 'id')?.split(/\s+/)[1], `sha256:${ids[0]!.Id}`);
  expectEqual('digest that is printed', lineOf(first, 'digest')?.split(/\s+/)[1], ids[0]!.Digest);
  // Without its second argument the command would take all names.
  engine.podman('image', 'untag', again!, again!);
  subject.image = image!;
  return ids[0]!.Digest;
}

function unpackedSize({ engine, image }: Subject): string {
  const { Size } = engine.inspect<{ Size: number }>('image', image);
  expectThat(`the image has ${Size} bytes, more than ${SIZE_MAX}`, Size < SIZE_MAX);
  const pushed = join(engine.folder, 'pushed');
  runProgram('buildah', ['push', '--quiet', image, `dir:${pushed}`], { env: engine.environment });
  const compressed = readdirSync(pushed).reduce((sum, name) => sum + readFileSync(join(pushed, name)).length, 0);
  return `${(Size / 1e6).toFixed(1)} MB, ${(compressed / 1e6).toFixed(1)} MB compressed in a registry`;
}

async function bundleTwice(subject: Subject): Promise<string> {
  const { engine } = subject;
  const files = ['first.tar.gz', 'second.tar.gz'].map((name) => join(engine.folder, name));
  const printed = await npm(engine, ['bundle', '--', `--output=${files[0]}`]);
  await npm(engine, ['bundle', '--', `--output=${files[1]}`], OTHER);
  const hashes = files.map((file) => createHash('sha256').update(readFileSync(file)).digest('hex'));
  expectEqual('hashes of the archives', hashes[1], hashes[0]);
  expectEqual('hash that is printed', lineOf(printed, 'sha256')?.split(/\s+/)[1], hashes[0]);
  subject.bundle = files[0]!;
  const unpacked = join(engine.folder, 'unpacked');
  mkdirSync(unpacked);
  runProgram('tar', ['-xzf', subject.bundle, '-C', unpacked]);
  subject.folder = join(unpacked, readdirSync(unpacked)[0]!);
  return `${lineOf(printed, 'size')?.replace(/^size\s+/, '')}, sha256 ${hashes[0]}`;
}

export const buildCases: readonly ImageCase[] = [
  { name: 'npm run image: two builds of a commit have the same digest', run: buildTwice },
  { name: 'the image is below 150 MB', run: unpackedSize },
  { name: 'npm run bundle: two archives of a commit have the same bytes', run: bundleTwice },
];
