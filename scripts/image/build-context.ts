import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebianBase } from './debian-base.js';
import { sbomOf } from './sbom.js';
import { makeSelfContainedFolder, NODE_PROGRAM, type Project, ROOT, SBOM_FILE } from './self-contained-folder.js';
import { settleFiles } from './settle-files.js';
import type { SourceState } from './source-state.js';

/** Where the self-contained folder is in the image. */
const PLACE = '/opt/straddle';

/** Without a shell the kernel starts the program by its first line, so `straddle` is a file for Node.js at its fixed place. */
const LAUNCHER = `#!${PLACE}/${NODE_PROGRAM}
import('${PLACE}/lib/straddle/bin/straddle.js');
`;

/**
 * Writes the files that the Containerfile copies, and the Containerfile, into an empty folder. `base` is named in the bill of materials
 * if it is the default one.
 */
export function makeBuildContext(
  folder: string,
  {
    source,
    base,
    say,
  }: { readonly source: SourceState; readonly base: DebianBase | undefined; readonly say: (line: string) => void },
): Project {
  const place = join(folder, 'files', PLACE);
  mkdirSync(place, { recursive: true });
  const { project, bill } = makeSelfContainedFolder(place, source, say);
  writeFileSync(join(place, SBOM_FILE), sbomOf({ ...bill, debian: base }));
  // It needs a shell.
  rmSync(join(place, 'bin'), { recursive: true });
  const launcher = join(folder, 'files/usr/local/bin/straddle');
  mkdirSync(join(launcher, '..'), { recursive: true });
  writeFileSync(launcher, LAUNCHER);
  chmodSync(launcher, 0o755);
  mkdirSync(join(folder, 'state/straddle'), { recursive: true });
  copyFileSync(join(ROOT, 'Containerfile'), join(folder, 'Containerfile'));
  settleFiles(folder, source.epoch);
  return project;
}

/** A tag that changes with the packages. */
export function baseTag({ release, packages }: DebianBase): string {
  return `${release}-${createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 12)}`;
}
