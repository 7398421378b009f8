import { ConfigError } from '../../compose/config/config-error.js';
import { API_SERVER, readApiServerManifest } from './api-server-manifest.js';
import type { HostFiles } from './host-files.js';
import { hashOf, type Journal, type JournalEntry } from './journal.js';
import { movedBack } from './manifest-edit.js';

/** How one file is brought back. */
export interface Undo {
  readonly kind: 'restored' | 'removed' | 'unchanged' | 'changed back' | 'left';
  readonly path: string;
  /** A sentence for the operator, after `apply`. */
  readonly text: string;
  /** A backup that nothing else has the content of any more. */
  readonly keptBackup: string | undefined;
  readonly apply: () => void;
}

type Found = Pick<Undo, 'kind'> & {
  readonly note?: string;
  readonly keepsBackup?: boolean;
  readonly apply?: () => void;
};

/** Throws ConfigError with every file of a journal that could not be brought back; changes nothing. */
export function checkUndo(files: HostFiles, { entries, state }: Journal): void {
  const problems = entries.flatMap((entry) => {
    try {
      undoOf(files, entry, state);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Returns how to undo one entry of a journal, whether it was written or not. Throws ConfigError if that is impossible. */
export function undoOf(files: HostFiles, entry: JournalEntry, state: Journal['state']): Undo {
  const { path, backup } = entry;
  const { kind, note = '', keepsBackup, apply = () => {} } = found(files, entry, state);
  return { kind, path, text: `${kind} ${path}${note}`, keptBackup: keepsBackup ? backup : undefined, apply };
}

function found(files: HostFiles, { path, backup, written }: JournalEntry, state: Journal['state']): Found {
  const current = files.read(path);
  if (backup === undefined) {
    return current === undefined ? { kind: 'unchanged' } : { kind: 'removed', apply: () => files.remove(path) };
  }
  const before = files.read(backup);
  const kept = before === undefined ? `Its backup ${backup} is gone.` : `Its content before is in ${backup}.`;
  if (current === undefined && state === 'installed') {
    return { kind: 'left', note: ` away: it was removed after the installation. ${kept}`, keepsBackup: true };
  }
  if (current !== undefined && current === before) return { kind: 'unchanged' };
  if (current === undefined || hashOf(current) === written) {
    if (before !== undefined) return { kind: 'restored', apply: () => files.putBack(backup, path) };
    throw new ConfigError([`The backup ${backup} of ${path} is gone: bring ${path} back by hand, then try again.`]);
  }
  if (path.endsWith(`/${API_SERVER}.yaml`)) return generatedSince(files, path, current, kept);
  return { kind: 'left', note: ` as it is: it was edited after the installation. ${kept}`, keepsBackup: true };
}

/** A manifest that kubeadm has generated since keeps its new content without Straddle's part. */
function generatedSince(files: HostFiles, path: string, current: string, kept: string): Found {
  try {
    const manifest = readApiServerManifest(path, current);
    if (!manifest.isBehind) return { kind: 'left', note: ' as it is: it has no part of Straddle.' };
    const text = movedBack(manifest);
    return { kind: 'changed back', apply: () => files.replace(path, text) };
  } catch (error) {
    throw new ConfigError([
      `${(error as Error).message} Mend ${path}, or put its content before there; then try again. ${kept}`,
    ]);
  }
}
