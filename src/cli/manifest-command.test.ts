import { Command } from 'commander';
import { load, loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { kubeadmOutput } from '../tools/install/kubeadm-output.fixture.js';
import { addManifestCommand } from './manifest-command.js';
import type { Surroundings } from './surroundings.js';

const FROM = '--from=kube-apiserver.yaml';

const written = new Map<string, string>();

async function print(...argv: readonly string[]): Promise<string> {
  let out = '';
  const surroundings = {
    stdout: (text: string) => (out += text),
    readFile: (path: string) => {
      if (path === 'kube-apiserver.yaml') return kubeadmOutput('1.36-ipv6');
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
    writeFile: (path: string, text: string) => {
      if (path.startsWith('/none/')) throw Object.assign(new Error('no such folder'), { code: 'ENOENT' });
      written.set(path, text);
    },
  } as unknown as Surroundings;
  const program = new Command().exitOverride();
  addManifestCommand(program, surroundings);
  await program.parseAsync(['manifest', ...argv], { from: 'user' });
  return out;
}

describe('straddle manifest', () => {
  it('prints the static pod, of one node or of any', async () => {
    expect(await print('pod', FROM, '--image=straddle:9')).toMatch(/image: straddle:9.*--bind-address=fd00:10::1/s);
    expect(load(await print('pod'))).toMatchObject({ kind: 'Pod', metadata: { name: 'straddle' } });
  });

  it('prints the patches with the names that kubeadm looks for', async () => {
    const text = await print('kubeadm-patches', FROM);
    expect(text).toContain('# /etc/kubernetes/patches/kube-apiserver-straddle+json.yaml\n');
    expect(loadAll(text)).toEqual([
      [{ op: 'add', path: '/spec/containers/0/command/-', value: '--bind-address=::1' }],
      expect.objectContaining({ spec: expect.anything() }),
    ]);
    expect(loadAll(await print('kubeadm-patches'))[0]).toMatchObject([{ value: '--bind-address=127.0.0.1' }]);
  });

  it('writes each patch into a file of its own, so that kubeadm can read it', async () => {
    written.clear();
    await print('kubeadm-patches', FROM, '--write-to=/patches');
    expect([...written.keys()]).toEqual([
      '/patches/kube-apiserver-straddle+json.yaml',
      '/patches/kube-apiserver-straddle+strategic.yaml',
    ]);
    expect(load([...written.values()][0]!)).toEqual([
      { op: 'add', path: '/spec/containers/0/command/-', value: '--bind-address=::1' },
    ]);
    await expect(print('kubeadm-patches', '--write-to=/none')).rejects.toThrow(
      '/none/kube-apiserver-straddle+json.yaml cannot be written (ENOENT).',
    );
  });

  it('prints a systemd unit, rights and an example for Cluster API', async () => {
    expect(await print('systemd', FROM, '--program=/opt/straddle')).toContain('ExecStart=/opt/straddle \\\n  proxy');
    expect(loadAll(await print('rbac'))).toHaveLength(6);
    expect(load(await print('cluster-api'))).toMatchObject({ kind: 'KubeadmControlPlane' });
  });

  it('names the file that it cannot read', async () => {
    await expect(print('pod', '--from=gone.yaml')).rejects.toThrow('The static pod gone.yaml cannot be read (ENOENT).');
  });
});
