import { dump, load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { readApiServerManifest } from './api-server-manifest.js';
import { KUBEADM_OUTPUTS, kubeadmOutput, MANIFEST_PATH, readOutput } from './kubeadm-output.fixture.js';
import { kubeadmPatches } from './kubeadm-patches.js';
import { movedBack, movedBehind } from './manifest-edit.js';

describe('the manifest of a kube-apiserver behind Straddle', () => {
  it.each(KUBEADM_OUTPUTS)('is byte for byte what kubeadm writes with the patches (%s)', (name) => {
    expect(movedBehind(readOutput(name))).toBe(kubeadmOutput(`${name}-patched`));
  });

  it.each(KUBEADM_OUTPUTS)('becomes the manifest before again (%s)', (name) => {
    expect(movedBack(readOutput(`${name}-patched`))).toBe(kubeadmOutput(name));
  });

  it('keeps another bind address that was there before', () => {
    const before = (text: string) => text.replace('    - --secure', '    - --bind-address=127.0.0.1\n    - --secure');
    const manifest = readOutput('1.36', before);
    const after = readApiServerManifest(MANIFEST_PATH, movedBehind(manifest));
    expect(after.flags.get('bind-address')).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(movedBack(after)).toBe(manifest.text);
  });

  it('keeps comments and quotes', () => {
    const commented = (text: string) =>
      text
        .replace('  hostNetwork', '  # ours\n  hostNetwork')
        .replace('    - --secure', '    # port\n\n    - --secure')
        .replace(/host: (.*)/g, 'host: "$1"');
    const text = movedBehind(readOutput('1.36', commented));
    expect(text).toContain('  # ours\n');
    expect(text).toContain('    # port\n\n');
    expect(load(text)).toEqual(load(kubeadmOutput('1.36-patched')));
  });

  it.each([
    ['flow style', (text: string) => dump(load(text), { flowLevel: 2 })],
    ['JSON', (text: string) => JSON.stringify(load(text))],
    [
      'commands that are spread over lines',
      (text: string) => text.replace('- kube-apiserver\n    - --adv', '- kube-apiserver\n\n    - --adv'),
    ],
  ])('is right in %s too, in another layout', (_, layout) => {
    const moved = readOutput('1.36', (text) => movedBehind(readApiServerManifest(MANIFEST_PATH, layout(text))));
    expect(moved.pod).toEqual(load(kubeadmOutput('1.36-patched')));
    expect(load(movedBack(moved))).toEqual(load(kubeadmOutput('1.36')));
  });

  it('has the line ends that were there, and its own argument for the kubelet', () => {
    const manifest = readOutput('1.36', (text) => text.replaceAll('\n', '\r\n'));
    const moved = readApiServerManifest(MANIFEST_PATH, movedBehind(manifest));
    expect(moved.pod).toEqual(load(kubeadmOutput('1.36-patched')));
    expect(load(movedBack(moved))).toEqual(load(kubeadmOutput('1.36')));
  });

  it.each([
    ['defaultMode: 0644', '0644'],
    ['readOnly: yes # please', 'yes'],
  ])('is not written anew with %s, which the kubelet reads otherwise', (line, word) => {
    const flow = (text: string) => `${dump(load(text), { flowLevel: 2 })}\n`.replace(/^status:.*\n/m, `${line}\n`);
    const behind = () => movedBehind(readOutput('1.36', flow));
    expect(behind).toThrow(new RegExp(`^${MANIFEST_PATH} has a layout .*the word ${word}, which`));
  });

  it('has a host for probes that had none', () => {
    const text = movedBehind(readOutput('1.36', (each) => each.replace(/ +host: .*\n/g, '')));
    expect(text).toBe(kubeadmOutput('1.36-patched'));
  });
});

describe('kubeadmPatches', () => {
  it('append one argument and move the probes, each in the only way that holds for every version', () => {
    const [json, strategic, ...others] = kubeadmPatches(readOutput());
    expect(others).toEqual([]);
    expect(json).toEqual({
      name: 'kube-apiserver-straddle+json.yaml',
      text: '- op: add\n  path: /spec/containers/0/command/-\n  value: "--bind-address=127.0.0.1"\n',
    });
    expect(strategic?.name).toBe('kube-apiserver-straddle+strategic.yaml');
    const host = { httpGet: { host: '127.0.0.1' } };
    expect(load(strategic!.text)).toEqual({
      spec: { containers: [{ name: 'kube-apiserver', livenessProbe: host, readinessProbe: host, startupProbe: host }] },
    });
  });

  it('leave out a probe that the manifest does not have, which would be invalid without a port', () => {
    const without = (text: string) => text.replace(/ {4}startupProbe:\n(?: {6,}.*\n)+/, '');
    expect(kubeadmPatches(readOutput('1.36', without))[1]?.text).not.toContain('startupProbe');
  });
});
