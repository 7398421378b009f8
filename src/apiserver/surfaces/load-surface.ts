import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuiltInSurface, readSurface } from './built-in-surface.js';
import { readBounded } from './captured-file.js';
import { SURFACE_FILE, type SurfaceOrigin } from './parse-surface.js';
import { notShipped, SHIPPED_SURFACES } from './shipped-versions.js';

/** The surface of a cluster with everything on is a quarter of a megabyte. */
export const SURFACE_FILE_BYTES_MAX = 64 * 1024 * 1024;

const cache = new Map<string, Promise<BuiltInSurface>>();

/** A surface that ships with Straddle. Read once; there are as many as there are versions, so nothing is evicted. */
export function loadSurface(version: string): Promise<BuiltInSurface> {
  const problem = notShipped(version);
  if (problem !== undefined) return Promise.reject(new Error(`Kubernetes ${problem}.`));
  let surface = cache.get(version);
  if (surface === undefined) {
    surface = load({ file: shippedFile(version), remedy: 'install Straddle again', isOurs: true });
    surface.catch(() => cache.delete(version));
    cache.set(version, surface);
  }
  return surface;
}

/** The sources have the file as it was captured, a build has it compressed. */
function shippedFile(version: string): string {
  const file = fileURLToPath(new URL(`${version}.json`, SHIPPED_SURFACES));
  return existsSync(file) ? file : `${file}.gz`;
}

/**
 * A surface that was captured into a file of the operator's. Rejects with SurfaceFormatError where it cannot be served; its
 * message names the file.
 */
export function loadSurfaceFile(file: string): Promise<BuiltInSurface> {
  return load({ file, remedy: `capture it again with \`straddle surface capture --output=${file}\`` });
}

async function load(origin: SurfaceOrigin): Promise<BuiltInSurface> {
  return readSurface(await readBounded(origin.file, SURFACE_FILE_BYTES_MAX, SURFACE_FILE), origin);
}
