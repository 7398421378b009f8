import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../real/rig/eventually.js';

const MOUNT = '/sys/fs/cgroup';
const PREFIX = 'straddle-kubelet-';
/** Until the processes of a node that was ended are gone. */
const GONE_TIMEOUT_MS = 20_000;

/** The cgroup below which a kubelet of the test puts its pods, in each hierarchy of cgroups v1, or in the one of v2. */
export class CgroupRoot {
  readonly name = `${PREFIX}${process.pid}`;

  /** Also removes what runs left that were killed. */
  async make(): Promise<void> {
    for (const hierarchy of hierarchies()) {
      const old = readdirSync(hierarchy).filter((each) => each.startsWith(PREFIX) && !isOfLiving(each));
      for (const each of old) await removed(join(hierarchy, each));
      if (hierarchy === MOUNT || !isUnified(hierarchy)) mkdirSync(join(hierarchy, this.name));
    }
  }

  /** Once the processes have ended. Beside v1, runc makes one in the hierarchy of v2 too. */
  async remove(): Promise<void> {
    for (const hierarchy of hierarchies()) await removed(join(hierarchy, this.name));
  }
}

function hierarchies(): string[] {
  if (isUnified(MOUNT)) return [MOUNT];
  const folders = readdirSync(MOUNT).map((name) => join(MOUNT, name));
  return folders.filter((folder) => existsSync(join(folder, 'cgroup.procs')));
}

/** Whether a hierarchy is that of cgroups v2. */
function isUnified(folder: string): boolean {
  return existsSync(join(folder, 'cgroup.controllers'));
}

function isOfLiving(name: string): boolean {
  return existsSync(`/proc/${name.slice(PREFIX.length)}`);
}

/** A cgroup can be removed once it has neither processes nor cgroups below it. */
function removed(folder: string): Promise<boolean> {
  return eventually(
    `${folder} is removed`,
    () => {
      if (existsSync(folder)) removeTree(folder);
      return !existsSync(folder);
    },
    { timeoutMs: GONE_TIMEOUT_MS },
  );
}

function removeTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(folder, entry.name));
  }
  rmdirSync(folder);
}
