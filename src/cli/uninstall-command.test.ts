import { chmodSync, mkdirSync, renameSync, statSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../compose/config/config-error.js';
import { kubeadmOutput } from '../tools/install/kubeadm-output.fixture.js';
import { FakeNode } from '../tools/install/node.fixture.js';
import { BACKUP, install, JOURNAL, MANIFEST, PATCH, POD, run, uninstall } from './install-command.fixture.js';

describe('straddle uninstall', () => {
  it('keeps a manifest that kubeadm has generated since, without the part of Straddle', async () => {
    const node = new FakeNode();
    await install(node);
    node.write(MANIFEST, kubeadmOutput('1.37-patched'));
    const { out, error } = await uninstall(node);
    expect(error).toBeUndefined();
    expect(out).toContain(`changed back ${MANIFEST}`);
    expect(node.read(MANIFEST)).toBe(kubeadmOutput('1.37'));
    expect([POD, PATCH, JOURNAL].filter((path) => node.has(path))).toEqual([]);
  });

  it('keeps a manifest that kubeadm has generated without the patches', async () => {
    const node = new FakeNode();
    await install(node);
    node.write(MANIFEST, kubeadmOutput('1.37'));
    expect((await uninstall(node)).error).toBeUndefined();
    expect(node.read(MANIFEST)).toBe(kubeadmOutput('1.37'));
    expect(node.has(POD)).toBe(false);
  });

  it.each([0, 1, 2, 3])('finishes the way back of an installation that was killed in second %i', async (second) => {
    const node = new FakeNode();
    const before = node.snapshot();
    const killed = node.hangInDelay(second);
    void install(node);
    await killed;
    node.revive();
    expect(node.read(JOURNAL)).toContain('"installing"');
    expect((await install(node)).error?.message).toMatch(/was interrupted on this node: run straddle uninstall first/);
    expect((await uninstall(node)).error).toBeUndefined();
    expect(node.snapshot()).toEqual(before);
  });

  it('removes the draft of a file at which an installation was killed', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    const killed = node.hangInDelay(0);
    void install(node);
    await killed;
    node.revive();
    node.write(POD.replace('straddle.yaml', '.straddle.yaml.straddle-draft'), 'half');
    expect((await uninstall(node)).error).toBeUndefined();
    expect(node.snapshot()).toEqual(before);
  });

  it('says so where nothing is installed, and refuses a journal that is damaged', async () => {
    const node = new FakeNode();
    expect((await uninstall(node)).error?.message).toBe('Nothing is installed on this node by straddle install.');
    mkdirSync(join(node.root, '/etc/kubernetes/straddle'));
    for (const entry of ['{"path":3}', '{"path":"/a","written":"b","backup":3}']) {
      node.write(JOURNAL, `{"format":1,"state":"installed","folders":[],"entries":[${entry}]}`);
      expect((await uninstall(node)).error?.message).toMatch(/install\.json is damaged/);
    }
  });

  it('starts no kube-apiserver on a node that has none any more, and keeps the backup of its manifest', async () => {
    const node = new FakeNode();
    const manifest = node.read(MANIFEST);
    await install(node);
    unlinkSync(join(node.root, MANIFEST));
    const { out, error } = await uninstall(node);
    expect(error).toBeUndefined();
    expect(out).toContain('without waiting');
    expect(out).toContain(
      `left ${MANIFEST} away: it was removed after the installation. Its content before is in ${BACKUP}.`,
    );
    expect([MANIFEST, POD, PATCH, JOURNAL].filter((path) => node.has(path))).toEqual([]);
    expect(node.read(BACKUP)).toBe(manifest);
  });

  it('leaves a backup that it has kept to the next installation too', async () => {
    const node = new FakeNode();
    node.write(PATCH, 'older');
    await install(node);
    node.write(PATCH, 'edited');
    await uninstall(node);
    const before = node.snapshot();
    expect((await install(node)).error).toBeUndefined();
    expect((await uninstall(node)).error).toBeUndefined();
    expect(node.snapshot()).toEqual(before);
    expect(node.read(PATCH)).toBe('edited');
    expect(node.read('/etc/kubernetes/straddle/backup/0-kube-apiserver-straddle+json.yaml')).toBe('older');
  });

  it.each([
    [
      'is a manifest that nobody can read',
      (node: FakeNode) => node.write(MANIFEST, 'spec: ['),
      /not one document of YAML.*Mend .*kube-apiserver\.yaml, or put .* is in .*backup\/2-kube-apiserver\.yaml/s,
    ],
    [
      'has lost its backup',
      (node: FakeNode) => unlinkSync(join(node.root, BACKUP)),
      /The backup .*2-kube-apiserver\.yaml of \/etc\/kubernetes\/manifests\/kube-apiserver\.yaml is gone/,
    ],
  ])('removes nothing while a file %s, and names the backup', async (_, damage, message) => {
    const node = new FakeNode();
    await install(node);
    damage(node);
    const before = node.snapshot();
    const { error } = await uninstall(node);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error?.message).toMatch(message);
    expect(node.snapshot()).toEqual(before);
  });

  it('brings back a node whose folder of manifests is a symbolic link, which stays', async () => {
    const node = new FakeNode();
    renameSync(join(node.root, '/etc/kubernetes/manifests'), join(node.root, '/var/lib/manifests'));
    symlinkSync('../../var/lib/manifests', join(node.root, '/etc/kubernetes/manifests'));
    const before = node.snapshot();
    expect((await install(node)).error).toBeUndefined();
    expect((await uninstall(node)).error).toBeUndefined();
    expect(node.snapshot()).toEqual(before);
  });

  it('leaves a patch that was there before and was edited since, and says so', async () => {
    const node = new FakeNode();
    node.write(PATCH, 'older');
    await install(node);
    node.write(PATCH, 'edited');
    const { out, error } = await uninstall(node);
    expect(error).toBeUndefined();
    expect(out).toContain(`left ${PATCH} as it is: it was edited after the installation. Its content before is in `);
    expect(node.read(PATCH)).toBe('edited');
    expect(node.read('/etc/kubernetes/straddle/backup/0-kube-apiserver-straddle+json.yaml')).toBe('older');
    expect([POD, JOURNAL].filter((path) => node.has(path))).toEqual([]);
  });

  it('restores owner and mode of the manifest without space for another copy', async () => {
    const node = new FakeNode();
    chmodSync(join(node.root, MANIFEST), 0o640);
    const before = node.snapshot();
    await install(node);
    const { ino } = statSync(join(node.root, BACKUP));
    expect((await uninstall(node)).error).toBeUndefined();
    expect(statSync(join(node.root, MANIFEST)).ino).toBe(ino);
    expect(node.snapshot()).toEqual(before);
  });

  it('says at a stop signal that all files are restored', async () => {
    const node = new FakeNode();
    const before = node.snapshot();
    await install(node);
    const { error } = await run(node, ['uninstall', '--timeout=30s'], (stop) => {
      node.onDelay = stop;
    });
    expect(error?.message).toBe('All files are restored, but the kube-apiserver is not back yet: Stopped by a signal.');
    expect(node.snapshot()).toEqual(before);
  });
});
