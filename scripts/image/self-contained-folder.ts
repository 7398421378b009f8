import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LockFile } from '../lock-integrity.js';
import { type PinnedNode, pinnedNode } from './pinned-node.js';
import {
  bundledPackages,
  directDependencies,
  type LockedPackage,
  type Platform,
  productionPackages,
} from './production-packages.js';
import { runProgram } from './run-program.js';
import { type SbomContent, sbomOf } from './sbom.js';
import { settleFiles } from './settle-files.js';
import { copySources, type SourceState } from './source-state.js';
import { noticesText, packageNotices, readManifest } from './third-party-notices.js';
import { removeUnusedFiles } from './unused-files.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SBOM_FILE = 'sbom.cdx.json';
export const NOTICES_FILE = 'THIRD-PARTY-NOTICES';
/** The Node.js program in the folder; below lib, so that a PATH with the folder's bin does not get another `node`. */
export const NODE_PROGRAM = 'lib/node';

export interface Project {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description: string;
}

export interface SelfContainedFolder {
  readonly project: Project;
  readonly platform: Platform;
  readonly packages: readonly LockedPackage[];
  /** Without Debian packages. */
  readonly bill: SbomContent;
}

/** The platform of this machine. Throws where there is none of the platforms that are shipped for. */
export function thisPlatform(): Platform {
  if (process.platform !== 'linux')
    throw new Error('This runs on Linux only: the files are for Linux and are tried out.');
  return { os: 'linux', cpu: process.arch, libc: 'glibc' };
}

/**
 * Writes into an empty folder everything that Straddle needs besides the C and C++ libraries: the built program, the packages of the
 * lock file, Node.js, licences and the bill of materials. The same commit gives the same bytes.
 */
export function makeSelfContainedFolder(
  target: string,
  source: SourceState,
  say: (line: string) => void,
): SelfContainedFolder {
  const platform = thisPlatform();
  const work = mkdtempSync(join(tmpdir(), 'straddle-build-'));
  try {
    const program = join(target, 'lib', 'straddle');
    say('building the program from a clean copy of the sources …');
    buildProgram(work, program);
    say('installing the packages of the lock file …');
    installPackages(work, program, platform);
    const node = pinnedNode(join(work, 'node'), platform.cpu, say);
    copyFileSync(node.program, join(target, NODE_PROGRAM));
    say('writing licences and the bill of materials …');
    const project = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as Project;
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as LockFile;
    const packages = productionPackages(lock, platform);
    checkInstalled(packages, program);
    const bundled = bundledPackages(lock);
    const direct = [...directDependencies(lock, platform), ...bundled.map(({ path }) => path)];
    const bill = billOf({ project, source, packages: [...packages, ...bundled], node, direct }, program);
    const notices = [...packageNotices(packages, program), ...packageNotices(bundled, ROOT)];
    const nodeNotice = {
      title: `Node.js ${node.version}`,
      license: 'MIT, and others for what it contains',
      texts: [node.license.trim()],
    };
    writeFileSync(join(target, NOTICES_FILE), noticesText([...notices, nodeNotice]));
    writeFileSync(join(target, SBOM_FILE), sbomOf(bill));
    for (const name of ['LICENSE', 'README.md']) copyFileSync(join(program, name), join(target, name));
    removeUnusedFiles(program, runProgram(node.program, ['-p', 'process.versions.modules']).trim());
    mkdirSync(join(target, 'bin'));
    copyFileSync(join(ROOT, 'scripts/image/launcher.sh'), join(target, 'bin', 'straddle'));
    chmodSync(join(target, 'bin', 'straddle'), 0o755);
    settleFiles(target, source.epoch);
    return { project, platform, packages, bill };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What `npm pack` would publish, which builds it. */
function buildProgram(work: string, target: string): void {
  const sources = join(work, 'sources');
  mkdirSync(sources);
  copySources(ROOT, sources);
  runProgram('npm', ['pack', '--pack-destination', work], { cwd: sources });
  const [archive] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  mkdirSync(target, { recursive: true });
  runProgram('tar', ['-xzf', join(work, archive!), '-C', target, '--strip-components=1']);
}

/** npm verifies the hash of each package. Scripts of packages are not run: native modules are shipped built. */
function installPackages(work: string, target: string, { os, cpu, libc }: Platform): void {
  const folder = join(work, 'packages');
  mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(ROOT, name), join(folder, name));
  const platform = [`--os=${os}`, `--cpu=${cpu}`, `--libc=${libc}`];
  runProgram('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-bin-links', '--prefer-offline', ...platform], {
    cwd: folder,
  });
  cpSync(join(folder, 'node_modules'), join(target, 'node_modules'), { recursive: true });
}

/** The bill of materials and the notices are made from the lock file, so what npm installed must be the same. */
function checkInstalled(packages: readonly LockedPackage[], program: string): void {
  const expected = new Set(packages.map(({ path }) => path));
  const found = new Set(packagesBelow(program));
  const missing = [...expected].filter((path) => !found.has(path));
  const unexpected = [...found].filter((path) => !expected.has(path));
  if (missing.length + unexpected.length === 0) return;
  throw new Error(
    `npm installed other packages than package-lock.json names: missing ${missing.join(', ') || 'none'}; not expected ${unexpected.join(', ') || 'none'}.`,
  );
}

/** `node_modules/lmdb`, `node_modules/@lmdb/lmdb-linux-x64`, … */
function packagesBelow(folder: string, prefix = ''): string[] {
  const modules = join(folder, prefix, 'node_modules');
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
    )
    .flatMap((name) => {
      const path = `${prefix === '' ? '' : `${prefix}/`}node_modules/${name}`;
      return [path, ...packagesBelow(folder, path)];
    });
}

function billOf(
  { node, ...content }: Omit<SbomContent, 'node' | 'licenses'> & { readonly node: PinnedNode },
  program: string,
): SbomContent {
  const unnamed = content.packages.filter(({ license }) => license === undefined);
  const licenses = unnamed.flatMap(({ path }) => {
    const { license } = readManifest(join(program, path));
    return license === undefined ? [] : [[path, license] as const];
  });
  const sha256 = createHash('sha256').update(readFileSync(node.program)).digest('hex');
  return { ...content, licenses: new Map(licenses), node: { version: node.version, sha256 } };
}
