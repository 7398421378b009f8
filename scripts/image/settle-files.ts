import { chmodSync, lstatSync, lutimesSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 0o755;
const PROGRAM = 0o755;
const FILE = 0o644;
const STICKY = 0o1777;

/** Gives everything below a folder modes that do not depend on the umask, and one time. Folders with the sticky bit stay open to all. */
export function settleFiles(path: string, epoch: number): void {
  const status = lstatSync(path);
  if (status.isDirectory()) {
    for (const name of readdirSync(path)) settleFiles(join(path, name), epoch);
    chmodSync(path, (status.mode & 0o1000) !== 0 ? STICKY : FOLDER);
  } else if (status.isFile()) {
    chmodSync(path, (status.mode & 0o100) !== 0 ? PROGRAM : FILE);
  } else if (!status.isSymbolicLink()) {
    throw new Error(`${path} is neither a file nor a folder nor a link, so it cannot be shipped.`);
  }
  lutimesSync(path, epoch, epoch);
}

/** Bytes of all files below a folder. */
export function bytesBelow(path: string): number {
  const status = lstatSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}
