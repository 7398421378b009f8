import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const MODE = 0o700;

/**
 * Makes a folder, for this user only, and those above it where they are missing. `recursive` of mkdir is not used: it never
 * returns where the system denies a new folder with ENOENT although the one above exists, as in /proc.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: MODE });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
