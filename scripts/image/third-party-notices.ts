import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LockedPackage } from './production-packages.js';

const LICENSE_FILE = /^(licen[cs]e|copying|copyright|notice)([.-].*)?$/i;

/**
 * Packages that declare a licence and have no file with its text, and the package whose text holds for them: the one that they are
 * built from, or one of the same author under the same licence.
 */
const TEXT_OF: Readonly<Record<string, string>> = {
  '@lmdb/lmdb-linux-x64': 'lmdb',
  '@lmdb/lmdb-linux-arm64': 'lmdb',
  '@msgpackr-extract/msgpackr-extract-linux-x64': 'msgpackr-extract',
  '@msgpackr-extract/msgpackr-extract-linux-arm64': 'msgpackr-extract',
  'weak-lru-cache': 'ordered-binary',
};

export interface PackageManifest {
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

export interface Notice {
  readonly title: string;
  readonly license: string;
  /** The text of each licence file. */
  readonly texts: readonly string[];
}

/** `packages` are what the lock file says, `root` the folder with their node_modules. Throws for each text that is missing. */
export function packageNotices(packages: readonly LockedPackage[], root: string): readonly Notice[] {
  return packages.map((each) => {
    const manifest = readManifest(join(root, each.path));
    if (manifest.version !== each.version) {
      throw new Error(`${each.path} is ${manifest.version}, but ${each.version} in package-lock.json.`);
    }
    const own = licenseTexts(join(root, each.path));
    const other = packages.find(({ name }) => name === TEXT_OF[each.name]);
    const texts = own.length > 0 || other === undefined ? own : licenseTexts(join(root, other.path));
    if (texts.length === 0) {
      throw new Error(
        `${each.path} has no file with its licence: give it a row in scripts/image/third-party-notices.ts.`,
      );
    }
    const author = typeof manifest.author === 'object' ? manifest.author.name : manifest.author;
    const by = own.length === 0 && author !== undefined ? `, by ${author}` : '';
    return {
      title: `${each.name} ${each.version}${by}`,
      license: each.license ?? manifest.license ?? 'see below',
      texts,
    };
  });
}

export function readManifest(folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageManifest;
}

export function noticesText(notices: readonly Notice[]): string {
  const line = '='.repeat(100);
  const head = `Straddle is shipped with the following software of others. Below is the licence of each.

${notices.map(({ title, license }) => `  ${title}: ${license}`).join('\n')}
`;
  return [head, ...notices.map(({ title, texts }) => `${line}\n${title}\n${line}\n\n${texts.join('\n\n')}\n`)].join(
    '\n',
  );
}

/** All licence files of a package, also of the sources of others in it, each text once. */
function licenseTexts(folder: string): readonly string[] {
  const texts = new Set<string>();
  const look = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      // Packages within are packages of the lock file themselves; hidden folders are left over from the work of their authors.
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) look(path);
      else if (LICENSE_FILE.test(entry.name) && !/\.[cm]?[jt]s$/.test(entry.name)) {
        texts.add(readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim());
      }
    }
  };
  if (existsSync(folder)) look(folder);
  return [...texts];
}
