import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run package`: whether the package, as `npm pack` would make it from what was built last, is small, complete and free of
 * files that are of no use to whoever installs it.
 */
export interface PackedPackage {
  readonly unpackedSize: number;
  /** Paths within the package. */
  readonly files: readonly string[];
  read(path: string): string;
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: unknown;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What the page at /straddle/ loads, and nothing else. */
const PAGE_FILES = ['dist/page/app.css', 'dist/page/app.js'];
const NOTICE = '/*!\nContains software of others:';
export const UNPACKED_BYTES_MAX = 5_000_000;
/** Run on the machine of whoever installs the package. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

/** Returns sentences about all that is wrong. */
export function packageProblems(packed: PackedPackage): string[] {
  const { files, unpackedSize } = packed;
  const manifest = JSON.parse(packed.read('package.json')) as Manifest;
  const problems: string[] = [];
  if (unpackedSize >= UNPACKED_BYTES_MAX)
    problems.push(`the package has ${unpackedSize} bytes unpacked; it must stay below ${UNPACKED_BYTES_MAX}`);
  for (const name of INSTALL_SCRIPTS)
    if (manifest.scripts?.[name] !== undefined) problems.push(`package.json: there is a script ${name}`);
  for (const path of [...Object.values(manifest.bin ?? {}), ...targetsOf(manifest.exports)]) {
    if (!files.includes(posix.normalize(path)))
      problems.push(`package.json names ${path}, which is not in the package`);
  }
  const page = files.filter((path) => path.startsWith('dist/page/')).sort();
  if (page.join() !== PAGE_FILES.join())
    problems.push(`dist/page has ${page.join(', ') || 'no files'}; it must have ${PAGE_FILES.join(', ')}`);
  for (const path of page) {
    if (!packed.read(path).startsWith(NOTICE)) problems.push(`${path}: has no licences of what is bundled in it`);
  }
  for (const path of files) {
    if (path.endsWith('.map')) problems.push(`${path}: a source map, but the sources are not in the package`);
    if (path.includes('node_modules/')) problems.push(`${path}: belongs to another package`);
    if (/\.[cm]?js$/.test(path) && packed.read(path).includes('\n//# sourceMappingURL='))
      problems.push(`${path}: names a source map, which is not in the package`);
    if (path.endsWith('.md')) problems.push(...brokenLinks(path, packed));
  }
  return problems;
}

function targetsOf(exported: unknown): string[] {
  if (typeof exported === 'string') return [exported];
  return exported !== null && typeof exported === 'object' ? Object.values(exported).flatMap(targetsOf) : [];
}

/** Links work wherever the files of the package are shown, if they lead to files of the package. */
function brokenLinks(page: string, { files, read }: PackedPackage): string[] {
  const text = read(page).replace(/```[\s\S]*?```/g, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return targets.flatMap((target) => {
    const path = target.split('#')[0]!;
    if (path === '' || /^[a-z]+:/.test(path)) return [];
    const wanted = posix.join(posix.dirname(page), path).replace(/\/$/, '');
    const isThere = files.some((file) => file === wanted || file.startsWith(`${wanted}/`));
    return isThere ? [] : [`${page}: links to ${target}, which is not in the package`];
  });
}

function packAgain(): PackedPackage {
  if (!existsSync(join(ROOT, 'dist'))) throw new Error('there is no dist/: run `npm run build` first');
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ unpackedSize, files }] = JSON.parse(output) as [{ unpackedSize: number; files: { path: string }[] }];
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
  return { unpackedSize, files: files.map(({ path }) => path), read };
}

function main(): void {
  const packed = packAgain();
  const problems = packageProblems(packed);
  for (const problem of problems) console.error(`package: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`package: ${packed.files.length} files, ${packed.unpackedSize} bytes unpacked`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
