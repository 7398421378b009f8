import { describe, expect, it } from 'vitest';
import { HostFiles } from './host-files.js';
import { install, restore, type Surroundings } from './installer.js';
import { readJournal } from './journal.js';
import { PATCHES_DIR } from './kubeadm-patches.js';
import { FakeNode } from './node.fixture.js';
import { planInstall } from './plan.js';

/** Files of a process that is killed after a number of changes: from then on nothing is changed, also not by the way back. */
class MortalFiles extends HostFiles {
  #left: number;

  constructor(root: string, left: number) {
    super(root);
    this.#left = left;
  }

  get isDead(): boolean {
    return this.#left < 0;
  }

  override replace(path: string, text: string, like = path): void {
    this.#live(() => super.replace(path, text, like));
  }

  override putBack(backup: string, path: string): void {
    this.#live(() => super.putBack(backup, path));
  }

  override remove(path: string): void {
    this.#live(() => super.remove(path));
  }

  override makeFolder(path: string): readonly string[] {
    return this.#live(() => super.makeFolder(path));
  }

  override removeEmptyFolder(path: string): void {
    this.#live(() => super.removeEmptyFolder(path));
  }

  #live<T>(work: () => T): T {
    if (this.isDead || --this.#left < 0) throw new Error('killed');
    return work();
  }
}

const CHANGES_MAX = 60;
const ADDRESSES = { node: { host: '10.0.0.1', port: 6443 }, loopback: { host: '127.0.0.1', port: 6443 } };

function around(node: FakeNode, files: HostFiles): Surroundings {
  const { signal } = new AbortController();
  const { ask, delay } = node;
  return { files, ask, askAnew: ask, delay, say: () => {}, nowMs: () => node.nowMs, timeoutMs: 30_000, signal };
}

function installOn(node: FakeNode, files: HostFiles): Promise<void> {
  const places = { manifestsDir: '/etc/kubernetes/manifests', patchesDir: PATCHES_DIR };
  return install(planInstall({ files, ...places, image: 'straddle:1' }), around(node, files));
}

/** What kubelet and kubeadm see, without backups that nobody needs any more. */
function seen(node: FakeNode) {
  return Object.fromEntries(
    Object.entries(node.snapshot()).filter(([path]) => !path.startsWith('etc/kubernetes/straddle')),
  );
}

function nodeWithPatch(): FakeNode {
  const node = new FakeNode();
  node.write(`${PATCHES_DIR}/kube-apiserver-straddle+json.yaml`, 'older');
  return node;
}

/** Brings a node back whose process was killed; without a journal there is nothing to bring back. */
async function bringBack(node: FakeNode): Promise<void> {
  const files = new HostFiles(node.root);
  const journal = readJournal(files);
  if (journal) await restore(journal, ADDRESSES, around(node, files));
}

/** Calls `work` with files that are killed after one change, after two, and so on, until they are not killed any more. */
async function killedAfterEach(
  prepare: () => Promise<FakeNode>,
  work: (node: FakeNode, files: HostFiles) => Promise<unknown>,
) {
  let changes = 0;
  for (; changes < CHANGES_MAX; changes++) {
    const node = await prepare();
    const files = new MortalFiles(node.root, changes);
    await work(node, files).catch(() => {});
    if (!files.isDead) break;
    await bringBack(node);
    expect(seen(node), `killed after ${changes} changes`).toEqual(seen(nodeWithPatch()));
  }
  return changes;
}

describe('a node whose installation was killed', () => {
  it('can be brought back, whatever file was the last to be changed', async () => {
    const changes = await killedAfterEach(async () => nodeWithPatch(), installOn);
    expect(changes).toBeGreaterThan(8);
    expect(changes).toBeLessThan(CHANGES_MAX);
  });

  it('can be brought back also where the way back was killed', async () => {
    const installed = async () => {
      const node = nodeWithPatch();
      await installOn(node, new HostFiles(node.root));
      return node;
    };
    const changes = await killedAfterEach(installed, (node, files) =>
      restore(readJournal(files)!, ADDRESSES, around(node, files)),
    );
    expect(changes).toBeGreaterThan(8);
    expect(changes).toBeLessThan(CHANGES_MAX);
  });
});
