import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../../base/make-folder.js';
import { StorageError } from '../../storage-error.js';

/** The format that this program writes, and the newest that it reads. */
const FORMAT_VERSION = 1;
const FORMAT_NAME = 'straddle-embedded-store';

/** Creates the directory if it does not exist. Throws StorageError for a directory of another format. */
export function openDataDir(path: string): { readonly storePath: string; readonly neighboursPath: string } {
  makeFolder(join(path, 'neighbours'));
  // The real path identifies a store that is reached through different paths.
  const realPath = realpathSync(path);
  const dir = { storePath: join(realPath, 'store.mdb'), neighboursPath: join(realPath, 'neighbours') };
  const formatPath = join(realPath, 'format.json');
  if (existsSync(formatPath)) {
    checkFormat(path, readFileSync(formatPath, 'utf8'));
    return dir;
  }
  // The format is written first: a store without it is not of this program.
  if (existsSync(dir.storePath)) {
    throw new StorageError('invalid', `${path} holds a store but no format.json: it was not made by this program`);
  }
  // Renamed, because several processes may start at once and must not read a partial file.
  const draftPath = `${formatPath}.${process.pid}`;
  writeFileSync(draftPath, `${JSON.stringify({ format: FORMAT_NAME, version: FORMAT_VERSION })}\n`, { mode: 0o600 });
  renameSync(draftPath, formatPath);
  return dir;
}

function checkFormat(path: string, text: string): void {
  const { format, version } = parse(text);
  if (format !== FORMAT_NAME || typeof version !== 'number') {
    throw new StorageError('invalid', `${path}/format.json does not describe a store of this program`);
  }
  if (version > FORMAT_VERSION) {
    throw new StorageError(
      'invalid',
      `${path} was written by a newer version of this program: its format is ${version}, and this one reads formats up to ${FORMAT_VERSION}`,
    );
  }
}

function parse(text: string): { format?: unknown; version?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
