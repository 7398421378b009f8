import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bundledPackages, productionPackages } from '../../scripts/image/production-packages.js';
import { type Bill, sbomFaults } from '../../scripts/image/sbom-faults.fixture.js';
import { NOTICES_FILE, ROOT, SBOM_FILE, thisPlatform } from '../../scripts/image/self-contained-folder.js';
import type { LockFile } from '../../scripts/lock-integrity.js';
import { expectEqual, expectThat, type ImageCase, type Subject } from './image-case.js';

const PLACE = 'opt/straddle';
const SET_ID = 0o6000;
const WRITABLE_BY_OTHERS = 0o002;
/** Names of programs that would help an intruder and that Straddle does not need. */
const TOOLS = /^(sh|ash|bash|dash|busybox|apt|apt-get|dpkg|perl|python3?|curl|wget|npm|npx|corepack)$/;

interface ImageConfig {
  readonly Config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
  readonly HealthCheck?: unknown;
}

/** Calls back with the root file system of the image. */
function inFiles<T>({ engine, image }: Subject, look: (root: string) => T): T {
  const root = engine.podman('image', 'mount', image);
  try {
    return look(root);
  } finally {
    engine.podman('image', 'unmount', image);
  }
}

function* filesBelow(folder: string): Generator<{ readonly path: string; readonly entry: Dirent }> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    yield { path, entry };
    if (entry.isDirectory()) yield* filesBelow(path);
  }
}

function configuration({ engine, image }: Subject): string {
  const { Config } = engine.inspect<ImageConfig>('image', image);
  expectEqual('user', Config.User, '65532:65532');
  expectEqual('entry point', Config.Entrypoint, ['straddle']);
  const version = image.split(':')[1]!;
  const label = (name: string) => Config.Labels[`org.opencontainers.image.${name}`];
  expectEqual('version label', label('version'), version);
  expectEqual('licence label', label('licenses'), 'Apache-2.0');
  expectThat(`revision label: ${label('revision')}`, /^[0-9a-f]{40}(\+changes)?$/.test(label('revision') ?? ''));
  return `revision ${label('revision')}`;
}

function nothingToMisuse(subject: Subject): string {
  return inFiles(subject, (root) => {
    let count = 0;
    for (const { path, entry } of filesBelow(root)) {
      count += 1;
      const { mode, uid } = lstatSync(path);
      const shown = `/${relative(root, path)}`;
      expectThat(`${shown} is a tool that nobody needs`, !TOOLS.test(entry.name) || entry.isDirectory());
      if (entry.isSymbolicLink()) continue;
      expectThat(`${shown} has mode ${mode.toString(8)}`, entry.isDirectory() || (mode & SET_ID) === 0);
      const isOpen = (mode & WRITABLE_BY_OTHERS) !== 0 || uid !== 0;
      expectThat(
        `${shown} can be changed by others than root`,
        !isOpen || ['/tmp', '/var/lib/straddle'].includes(shown),
      );
    }
    return `${count} files and folders`;
  });
}

function documents(subject: Subject): string {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as LockFile;
  const locked = [...productionPackages(lock, thisPlatform()), ...bundledPackages(lock)];
  return inFiles(subject, (root) => {
    const bill = JSON.parse(readFileSync(join(root, PLACE, SBOM_FILE), 'utf8')) as Bill;
    expectEqual('faults of the bill of materials', sbomFaults(bill), []);
    const listed = new Set(bill.components!.map(({ name, version }) => `${name} ${version}`));
    for (const { name, version } of locked) expectThat(`${name} is not in the bill`, listed.has(`${name} ${version}`));
    const installed = readdirSync(join(root, 'var/lib/dpkg/status.d'));
    for (const name of installed) {
      const text = readFileSync(join(root, 'var/lib/dpkg/status.d', name), 'utf8');
      const version = /^Version: (.+)$/m.exec(text)?.[1];
      expectThat(`${name} ${version} is not in the bill`, listed.has(`${name} ${version}`));
      expectThat(`${name} has no copyright file`, hasCopyright(root, name));
    }
    const node = bill.components!.find(({ name }) => name === 'node');
    expectThat('Node.js is not in the bill', node !== undefined);
    expectEqual('components', listed.size, locked.length + installed.length + 1);
    const notices = readFileSync(join(root, PLACE, NOTICES_FILE), 'utf8');
    for (const { name, version } of locked)
      expectThat(`${name} has no notice`, notices.includes(`\n${name} ${version}`));
    expectThat('Node.js has no notice', notices.includes(`\nNode.js ${node!.version}`));
    return `${locked.length} npm packages, ${installed.length} Debian packages, Node.js ${node!.version}`;
  });
}

function hasCopyright(root: string, name: string): boolean {
  return readFileSync(join(root, 'usr/share/doc', name, 'copyright')).length > 0;
}

function sameFiles(subject: Subject): string {
  return inFiles(subject, (root) => {
    let count = 0;
    for (const { path, entry } of filesBelow(join(root, PLACE))) {
      const name = relative(join(root, PLACE), path);
      // The image's has the Debian packages too.
      if (!entry.isFile() || name === SBOM_FILE) continue;
      count += 1;
      expectThat(`${name} differs`, readFileSync(path).equals(readFileSync(join(subject.folder, name))));
    }
    expectThat('no files were compared', count > 100);
    return `${count} files`;
  });
}

export const contentCases: readonly ImageCase[] = [
  { name: 'the image has its user, entry point and labels', run: configuration },
  {
    name: 'the image has no shell, no tools, no set-id programs and nothing that others could change',
    run: nothingToMisuse,
  },
  { name: 'bill of materials and licences name everything that is in the image', run: documents },
  { name: 'image and archive have the same program', run: sameFiles },
];
