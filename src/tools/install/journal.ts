import { createHash } from 'node:crypto';
import { ConfigError } from '../../compose/config/config-error.js';
import { isObject, parsedObject } from '../../kube/json.js';
import type { HostFiles } from './host-files.js';

/** Journal and backups. Not among the manifests, where the kubelet would start a backup. */
export const INSTALL_DIR = '/etc/kubernetes/straddle';
const JOURNAL = `${INSTALL_DIR}/install.json`;
const BACKUP_DIR = `${INSTALL_DIR}/backup`;
const FORMAT = 1;

/** A file that an installation writes. */
export interface Change {
  readonly path: string;
  /** Undefined: there is no such file. */
  readonly before: string | undefined;
  readonly after: string;
  readonly why: string;
}

export interface JournalEntry {
  readonly path: string;
  /** Where the content before is kept; undefined: there was no such file. */
  readonly backup: string | undefined;
  /** SHA-256 of what the installation writes. */
  readonly written: string;
}

/** What an installation writes, recorded before the first file is changed, so that it can be undone from any point. */
export interface Journal {
  readonly state: 'installing' | 'installed';
  /** In the order of writing. */
  readonly entries: readonly JournalEntry[];
  /** Folders that were not there, outermost first. */
  readonly folders: readonly string[];
}

/** Returns the journal of this machine; undefined if nothing is installed. */
export function readJournal(files: HostFiles): Journal | undefined {
  const text = files.read(JOURNAL);
  if (text === undefined) return undefined;
  const { format, state, entries, folders } = parsedObject(text);
  const isValid =
    format === FORMAT &&
    (state === 'installing' || state === 'installed') &&
    Array.isArray(entries) &&
    entries.every(
      (each) =>
        isObject(each) &&
        typeof each['path'] === 'string' &&
        typeof each['written'] === 'string' &&
        ['string', 'undefined'].includes(typeof each['backup']),
    ) &&
    Array.isArray(folders) &&
    folders.every((each) => typeof each === 'string');
  if (!isValid) {
    throw new ConfigError([
      `${JOURNAL} is damaged or of another version of Straddle: put back the files of ${BACKUP_DIR} by hand, then remove ${INSTALL_DIR}.`,
    ]);
  }
  return { state, entries: entries as unknown as JournalEntry[], folders: folders as string[] };
}

/** Keeps what the changes replace, then the journal; no file of the machine is changed yet, and nothing is left if that fails. */
export function beginJournal(files: HostFiles, changes: readonly Change[], folders: readonly string[]): Journal {
  const created: string[] = [];
  const entries: JournalEntry[] = [];
  const journal: Journal = { state: 'installing', entries, folders: created };
  try {
    for (const folder of [INSTALL_DIR, BACKUP_DIR, ...folders]) created.push(...files.makeFolder(folder));
    for (const { path, before, after } of changes) {
      const name = `${entries.length}-${path.slice(path.lastIndexOf('/') + 1)}`;
      const backup = before === undefined ? undefined : unusedPath(files, `${BACKUP_DIR}/${name}`);
      entries.push({ path, backup, written: hashOf(after) });
      if (backup !== undefined) files.replace(backup, before!, path);
    }
    writeJournal(files, journal);
  } catch (error) {
    try {
      endJournal(files, journal);
    } catch {
      // The first failure is the cause; this one has the same.
    }
    throw error;
  }
  return journal;
}

export function completeJournal(files: HostFiles, journal: Journal): void {
  writeJournal(files, { ...journal, state: 'installed' });
}

/** Removes the journal, the backups except those to keep, and the folders that the installation created if they are empty. */
export function endJournal(files: HostFiles, { entries, folders }: Journal, kept: readonly string[] = []): void {
  files.remove(JOURNAL);
  for (const { path, backup } of entries) {
    files.removeDraft(path);
    if (backup !== undefined && !kept.includes(backup)) files.remove(backup);
  }
  for (const folder of folders.toReversed()) files.removeEmptyFolder(folder);
}

/** A backup that an uninstallation kept may have the only copy of its content. */
function unusedPath(files: HostFiles, path: string): string {
  let unused = path;
  for (let count = 2; files.read(unused) !== undefined; count++) unused = `${path}.${count}`;
  return unused;
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function writeJournal(files: HostFiles, journal: Journal): void {
  files.replace(JOURNAL, `${JSON.stringify({ format: FORMAT, ...journal }, null, 2)}\n`);
}
