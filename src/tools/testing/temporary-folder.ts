import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const open = new Set<string>();

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** Makes a temporary folder, which is removed by `remove` or at the exit of the process. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'straddle-testing-'));
  if (open.size === 0) process.on('exit', removeAll);
  open.add(path);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      open.delete(path);
      if (open.size === 0) process.off('exit', removeAll);
    },
  };
}

function removeAll(): void {
  for (const path of open) rmSync(path, { recursive: true, force: true });
}
