import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuiltInSurface, readSurface } from './built-in-surface.js';

const DATA = new URL('./data/', import.meta.url);
const cache = new Map<string, Promise<BuiltInSurface>>();

/** The versions that come with Straddle, oldest first: `1.34`, `1.35`, … */
export async function surfaceVersions(): Promise<string[]> {
  const names = (await readdir(DATA)).filter((name) => /^\d+\.\d+\.json$/.test(name));
  const minor = (name: string): number => Number(name.split('.')[1]);
  return names.map((name) => name.replace('.json', '')).sort((left, right) => minor(left) - minor(right));
}

/** A surface that comes with Straddle. Read once; there are as many as there are versions, so nothing is evicted. */
export function loadSurface(version: string): Promise<BuiltInSurface> {
  if (!/^\d+\.\d+$/.test(version)) return Promise.reject(new Error(`not a Kubernetes version: ${version}`));
  let surface = cache.get(version);
  if (surface === undefined) {
    surface = loadSurfaceFile(fileURLToPath(new URL(`${version}.json`, DATA)));
    surface.catch(() => cache.delete(version));
    cache.set(version, surface);
  }
  return surface;
}

/** A surface that was captured into a file of the operator's. */
export async function loadSurfaceFile(path: string): Promise<BuiltInSurface> {
  return readSurface(await readFile(path, 'utf8'));
}
