import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Files of packages that nothing loads at run time: type declarations, source maps, and documents other than licences. */
const UNUSED_FILE = /\.(d\.[cm]?ts|map|markdown)$|^(readme|security|changelog)(\..*)?$/i;
/** Sources of native modules, which are shipped built; their licences go to THIRD-PARTY-NOTICES first. */
const UNUSED_FOLDERS = ['node_modules/lmdb/dependencies', 'node_modules/lmdb/src', 'node_modules/msgpackr-extract/src'];
/** Only needed to build native modules: headers of C++. */
const UNUSED_PACKAGES = ['node_modules/node-addon-api'];
/** `node.abi127.glibc.node`, `node.napi.musl.node`. */
const NATIVE = /^node\.(abi(?<abi>\d+)|napi)\.(?<libc>glibc|musl)\.node$/;

/** Removes what a program in `folder` (dist, node_modules) never loads when Node.js with this ABI runs it on glibc. */
export function removeUnusedFiles(folder: string, nodeAbi: string): void {
  for (const path of [...UNUSED_FOLDERS, ...UNUSED_PACKAGES])
    rmSync(join(folder, path), { recursive: true, force: true });
  const look = (at: string): void => {
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      const isFolder = lstatSync(path).isDirectory();
      if (name.startsWith('.')) rmSync(path, { recursive: true });
      else if (isFolder) look(path);
      else if (UNUSED_FILE.test(name) || isOtherNative(name, nodeAbi)) rmSync(path);
    }
  };
  look(folder);
}

function isOtherNative(name: string, nodeAbi: string): boolean {
  const { abi, libc } = NATIVE.exec(name)?.groups ?? {};
  return libc === 'musl' || (abi !== undefined && abi !== nodeAbi);
}
