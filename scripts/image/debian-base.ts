import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedFile } from './pinned-node.js';
import { runProgram } from './run-program.js';
import { settleFiles } from './settle-files.js';

type Say = (line: string) => void;

const LOCK_NAME = 'debian-packages.json';
const LOCK = fileURLToPath(new URL(LOCK_NAME, import.meta.url));
/** Debian's names. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Of the package file, in hexadecimal. */
  readonly sha256: string;
}

interface DebianLock {
  /** Code name. */
  readonly release: string;
  /** By Debian's architecture. */
  readonly packages: Readonly<Record<string, readonly DebianPackage[]>>;
}

export interface DebianBase {
  readonly release: string;
  readonly architecture: string;
  readonly packages: readonly DebianPackage[];
}

/** What Node.js is linked with, the licences of that, and the files that tell a scanner which Debian it is. */
const PACKAGES = ['base-files', 'gcc-12-base', 'libc6', 'libgcc-s1', 'libstdc++6'];

/** Libraries without what only other programs load: converters of iconv, tools of malloc and profiling. */
const WANTED = [
  /^(usr\/)?lib(64)?\/([a-z0-9_]+-linux-gnu\/)?[^/]+\.so(\.[0-9.]+)?$/,
  /^usr\/lib\/os-release$/,
  /^etc\/(debian_version|host\.conf)$/,
  /^usr\/share\/doc\/[^/]+(\/copyright)?$/,
  /^usr\/share\/common-licenses\/[^/]+$/,
];

/** Users by number only would do; names are for people and for programs that look them up. */
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

function readLock(): DebianLock {
  return JSON.parse(readFileSync(LOCK, 'utf8')) as DebianLock;
}

export function debianBase(cpu: string): DebianBase {
  const { release, packages } = readLock();
  const architecture = ARCHITECTURES[cpu] ?? cpu;
  const locked = packages[architecture];
  if (locked === undefined) {
    throw new Error(
      `No Debian packages are locked for ${architecture}: \`npm run image -- --update-base\` on such a machine adds them, or name another base with --base.`,
    );
  }
  return { release, architecture, packages: locked };
}

/**
 * Writes the root file system of the default base into an empty folder. Returns what it is made of: a locked version that the archive of
 * Debian no longer has is replaced by the newest one.
 */
export function makeDebianBase(target: string, epoch: number, base: DebianBase, say: Say): DebianBase {
  const work = mkdtempSync(join(tmpdir(), 'straddle-base-'));
  try {
    const archive = new AptArchive(join(work, 'apt'), base);
    const files = base.packages.map((each) => packageFile(each, archive, say));
    for (const [index, { file, name }] of files.entries()) {
      const unpacked = join(work, String(index));
      runProgram('dpkg-deb', ['--extract', file, unpacked]);
      copyWanted(unpacked, target);
      // Where scanners of images look for packages that no dpkg installed.
      write(join(target, 'var/lib/dpkg/status.d', name), `${runProgram('dpkg-deb', ['--field', file]).trim()}\n`);
    }
    for (const [path, text] of Object.entries(FILES)) write(join(target, path), text);
    symlinkSync('../usr/lib/os-release', join(target, 'etc/os-release'));
    mkdirSync(join(target, 'tmp'));
    chmodSync(join(target, 'tmp'), 0o1777);
    settleFiles(target, epoch);
    return { ...base, packages: files.map(({ name, version, sha256 }) => ({ name, version, sha256 })) };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function copyWanted(from: string, target: string, prefix = ''): void {
  for (const name of readdirSync(join(from, prefix))) {
    const path = prefix === '' ? name : `${prefix}/${name}`;
    const status = lstatSync(join(from, path));
    if (status.isDirectory()) copyWanted(from, target, path);
    else if (WANTED.some((pattern) => pattern.test(path))) {
      mkdirSync(dirname(join(target, path)), { recursive: true });
      if (status.isSymbolicLink()) symlinkSync(readlinkSync(join(from, path)), join(target, path));
      else cpSync(join(from, path), join(target, path));
    }
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface PackageFile extends DebianPackage {
  readonly file: string;
}

/** The file with the locked hash, from the cache or from the archive; where Debian has only a newer version by now, that. */
function packageFile(locked: DebianPackage, archive: AptArchive, say: Say): PackageFile {
  const { name, version, sha256 } = locked;
  const cached = (hash: string, fetch: () => string) => cachedFile(`${hash}.deb`, fetch);
  try {
    const file = cached(sha256, () => {
      say(`fetching ${name} ${version} …`);
      const path = archive.download(name, version);
      if (hashOf(path) === sha256) return path;
      throw new Error(`${name} ${version} has the SHA-256 ${hashOf(path)}, not ${sha256} as in ${LOCK_NAME}.`);
    });
    return { ...locked, file };
  } catch (error) {
    if (!(error instanceof NotInArchive)) throw error;
    const newest = archive.download(name);
    const found = versionOf(newest);
    say(`${name} ${version} is locked, but Debian has only ${found} now, which is used: the digest is another one.`);
    say('`npm run image -- --update-base` locks the new versions.');
    const hash = hashOf(newest);
    return { name, version: found, sha256: hash, file: cached(hash, () => newest) };
  }
}

class NotInArchive extends Error {}

/** The archive of Debian that apt is set up for on this machine, with lists of its own, which are new. */
class AptArchive {
  readonly #folder: string;
  readonly #base: Pick<DebianBase, 'release' | 'architecture'>;
  #options: readonly string[] | undefined;

  constructor(folder: string, base: Pick<DebianBase, 'release' | 'architecture'>) {
    this.#folder = folder;
    this.#base = base;
  }

  /** Returns the path of a package file, which apt has verified. Throws NotInArchive if there is no such version. */
  download(name: string, version?: string): string {
    this.#options ??= this.#prepare();
    const folder = mkdtempSync(join(this.#folder, 'download-'));
    const spec = `${name}:${this.#base.architecture}${version === undefined ? '' : `=${version}`}`;
    try {
      runProgram('apt-get', [...this.#options, 'download', spec], { cwd: folder });
    } catch (error) {
      throw new NotInArchive(`apt-get has no ${spec}: ${(error as Error).message}`);
    }
    return join(folder, readdirSync(folder).find((file) => file.endsWith('.deb'))!);
  }

  #prepare(): readonly string[] {
    const system = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
    if (system !== this.#base.release) {
      throw new Error(
        `The base is made of packages of Debian ${this.#base.release}, which this machine (${system ?? 'another system'}) does not have. Name another base with --base, for example --base=debian:bookworm-slim.`,
      );
    }
    for (const name of ['lists/partial', 'archives/partial']) mkdirSync(join(this.#folder, name), { recursive: true });
    const options = [
      `Dir::State::lists=${this.#folder}/lists`,
      `Dir::Cache=${this.#folder}`,
      'APT::Sandbox::User=root',
      'Acquire::Languages=none',
    ].flatMap((each) => ['-o', each]);
    runProgram('apt-get', [...options, '--quiet', 'update']);
    return options;
  }
}

function versionOf(file: string): string {
  return runProgram('dpkg-deb', ['--field', file, 'Version']).trim();
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Locks the versions that Debian has now, for the architecture of this machine. Returns a line for each package. */
export function updateDebianLock(cpu: string): readonly string[] {
  const architecture = ARCHITECTURES[cpu] ?? cpu;
  const lock = readLock();
  const work = mkdtempSync(join(tmpdir(), 'straddle-base-'));
  try {
    const archive = new AptArchive(work, { release: lock.release, architecture });
    const packages = PACKAGES.map((name) => {
      const file = archive.download(name);
      return { name, version: versionOf(file), sha256: hashOf(file) };
    });
    const updated = { ...lock, packages: { ...lock.packages, [architecture]: packages } };
    writeFileSync(LOCK, `${JSON.stringify(updated, null, 2)}\n`);
    return packages.map(({ name, version }) => `${name} ${version}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
