import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuiltInSurface, readSurface } from './built-in-surface.js';
import { notShipped, SHIPPED_SURFACES } from './shipped-versions.js';

const cache = new Map<string, Promise<BuiltInSurface>>();

/** A surface that ships with Straddle. Read once; there are as many as there are versions, so nothing is evicted. */
export function loadSurface(version: string): Promise<BuiltInSurface> {
  const problem = notShipped(version);
  if (problem !== undefined) return Promise.reject(new Error(`Kubernetes ${problem}.`));
  let surface = cache.get(version);
  if (surface === undefined) {
    surface = loadSurfaceFile(fileURLToPath(new URL(`${version}.json`, SHIPPED_SURFACES)));
    surface.catch(() => cache.delete(version));
    cache.set(version, surface);
  }
  return surface;
}

/** A surface that was captured into a file of the operator's. */
export async function loadSurfaceFile(path: string): Promise<BuiltInSurface> {
  return readSurface(await readFile(path, 'utf8'));
}
