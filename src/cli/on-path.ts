import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Surroundings } from './surroundings.js';

/** Returns whether a program of that name can be run without its path. */
export function isOnPath(name: string, { environment }: Pick<Surroundings, 'environment'>): boolean {
  return (environment['PATH'] ?? '').split(delimiter).some((dir) => {
    if (dir === '') return false;
    try {
      accessSync(join(dir, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
