import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from './run-program.js';

/** What is built, and the time that all files of it get. */
export interface SourceState {
  /** The commit; with `+changes` if the files differ from it. */
  readonly revision: string;
  /** Seconds: SOURCE_DATE_EPOCH, else the time of the commit. */
  readonly epoch: number;
}

export function sourceState(root: string): SourceState {
  const git = (...args: string[]) => runProgram('git', ['-C', root, ...args]).trim();
  let commit: string;
  try {
    commit = git('rev-parse', 'HEAD');
  } catch (error) {
    throw new Error(
      `${root} is not a checkout with a commit, so there is no revision to build:\n${(error as Error).message}`,
    );
  }
  const isChanged = git('status', '--porcelain') !== '';
  return { revision: isChanged ? `${commit}+changes` : commit, epoch: epochOf(git('log', '-1', '--format=%ct')) };
}

function epochOf(commitTime: string): number {
  const text = process.env['SOURCE_DATE_EPOCH'] || commitTime;
  if (!/^\d{1,11}$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH is "${text}": give it seconds since 1970.`);
  return Number(text);
}

/**
 * Copies the files of the checkout that git does not ignore, so that nothing of an earlier build is among them and `dist` of the
 * checkout stays as it is.
 */
export function copySources(root: string, target: string): void {
  const listed = runProgram('git', ['-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const path of listed.split('\0')) {
    // Listed although it was deleted, while that is not committed.
    if (path === '' || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(root, path), join(target, path));
  }
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
}
