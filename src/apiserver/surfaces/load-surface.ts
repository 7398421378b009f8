import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuiltInSurface, readSurface } from './built-in-surface.js';
import { SurfaceFormatError, type SurfaceOrigin } from './parse-surface.js';
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
    const file = fileURLToPath(new URL(`${version}.json`, SHIPPED_SURFACES));
    surface = load({ file, remedy: 'install Straddle again', isOurs: true });
    surface.catch(() => cache.delete(version));
    cache.set(version, surface);
  }
  return surface;
}

/**
 * A surface that was captured into a file of the operator's. Rejects with SurfaceFormatError where it cannot be served; its
 * message names the file.
 */
export function loadSurfaceFile(file: string): Promise<BuiltInSurface> {
  return load({ file, remedy: `capture it again with \`straddle surface capture --output=${file}\`` });
}

async function load(origin: SurfaceOrigin): Promise<BuiltInSurface> {
  return readSurface(await readBounded(origin.file), origin);
}

async function readBounded(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // `end` is the last byte that is read: one more than there may be.
    for await (const chunk of createReadStream(file, { end: SURFACE_FILE_BYTES_MAX })) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } catch (error) {
    throw new SurfaceFormatError(`${file} cannot be used (${(error as NodeJS.ErrnoException).code ?? error}).`);
  }
  if (bytes > SURFACE_FILE_BYTES_MAX) {
    throw new SurfaceFormatError(
      `${file} has more than ${SURFACE_FILE_BYTES_MAX} bytes: give a file that \`straddle surface capture\` wrote.`,
    );
  }
  return Buffer.concat(chunks).toString('utf8');
}
