import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** One built file of the page, held in memory. */
export interface PageAsset {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** With its quotes. */
  readonly etag: string;
}

/** The built files by name. No other file is ever served. */
export type PageAssets = ReadonlyMap<string, PageAsset>;

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
]);
const NAME = /^[A-Za-z0-9][\w-]*\.(js|css|svg)$/;
const ASSETS_MAX = 32;
const ASSET_BYTES_MAX = 2 * 1024 * 1024;

/** Beside the compiled program, else of a checkout that was built and runs from its sources. */
const FOLDERS = [new URL('../../page/', import.meta.url), new URL('../../../dist/page/', import.meta.url)];

/** Reads the built files, once at the start; none if the page was not built. */
export function loadPageAssets(folders: readonly URL[] = FOLDERS): PageAssets {
  for (const folder of folders) {
    const names = namesIn(folder);
    if (names.length > 0)
      return new Map(names.map((name) => [name, pageAsset(name, readFileSync(new URL(name, folder)))]));
  }
  return new Map();
}

export function pageAsset(name: string, bytes: Buffer): PageAsset {
  const contentType = CONTENT_TYPES.get(name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream';
  return { bytes, contentType, etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"` };
}

function namesIn(folder: URL): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => NAME.test(name) && statSync(new URL(name, folder)).size <= ASSET_BYTES_MAX)
      .slice(0, ASSETS_MAX);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
