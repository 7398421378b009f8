import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sidecarOfAnyNode } from '../../../src/tools/install/sidecar.js';
import { straddlePod } from '../../../src/tools/install/straddle-pod.js';
import { programOf, STRADDLE_IMAGE } from './image-program.js';
import { readPodManifest } from './pod-manifest.js';

const ADDRESS = '10.0.0.1';
const KUBEADM = new URL('../../../src/tools/install/kubeadm-output/1.36-patched.manifest', import.meta.url);

describe('the manifest of a static pod', () => {
  it('of kubeadm has the command and the probes with the named port and the host', () => {
    const pod = readPodManifest(readFileSync(KUBEADM, 'utf8'), ADDRESS);
    expect(pod.command[0]).toBe('kube-apiserver');
    expect(pod.command.at(-1)).toBe('--bind-address=127.0.0.1');
    expect(pod.readiness).toEqual({
      host: '127.0.0.1',
      port: 6443,
      path: '/readyz',
      isHttps: true,
      initialDelayMs: 0,
      periodMs: 1_000,
      timeoutMs: 15_000,
      failuresMax: 3,
    });
    expect(pod.startup).toMatchObject({ path: '/livez', initialDelayMs: 10_000, failuresMax: 24 });
    expect(pod.graceMs).toBe(30_000);
  });

  it('of Straddle has the address of the node where the kubelet gives it', () => {
    const pod = readPodManifest(straddlePod(sidecarOfAnyNode(), STRADDLE_IMAGE), ADDRESS);
    expect(pod.command).toContain(`--bind-address=${ADDRESS}`);
    expect(pod.readiness?.host).toBe(ADDRESS);
    expect(pod.graceMs).toBe(45_000);
    expect(programOf(pod)?.[0]).toBe(process.execPath);
  });

  it('has another hash after any change of its text', () => {
    const text = readFileSync(KUBEADM, 'utf8');
    expect(readPodManifest(`${text}\n`, ADDRESS).hash).not.toBe(readPodManifest(text, ADDRESS).hash);
  });

  it('is refused with a network of its own, with two containers and without any', () => {
    const pod = (spec: object) => JSON.stringify({ kind: 'Pod', metadata: { name: 'a' }, spec });
    const container = { name: 'a', image: 'a:1', command: ['a'] };
    expect(() => readPodManifest(pod({ containers: [container] }), ADDRESS)).toThrow('a network of its own');
    const two = { hostNetwork: true, containers: [container, container] };
    expect(() => readPodManifest(pod(two), ADDRESS)).toThrow('one container');
    expect(() => readPodManifest('kind: Pod\nmetadata: {name: a}\n', ADDRESS)).toThrow('one container');
  });
});

describe('the program of an image', () => {
  it('is missing for an image that nobody has, and for a command of another image', () => {
    expect(programOf({ image: 'registry.example/straddle:missing', command: ['straddle', 'proxy'] })).toBeUndefined();
    expect(programOf({ image: 'images.example/kube-apiserver:v0.0.0', command: ['kube-apiserver'] })).toBeUndefined();
    expect(programOf({ image: 'images.example/etcd:3', command: ['sh'] })).toBeUndefined();
  });
});
