import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.js';
import { hasReference, programInPod, readFlagWords } from './program-arguments.js';

const pod = (...containers: JsonObject[]): JsonObject => ({ kind: 'Pod', spec: { containers } });
const words = (container: JsonObject) => programInPod(pod(container), 'kube-apiserver');

describe('programInPod', () => {
  it('finds the program by the last part of its path, after a wrapper, and joins command and args', () => {
    const command = ['/go-runner', '--log-file=x', '/usr/local/bin/kube-apiserver'];
    expect(words({ name: 'api', command, args: ['--v=2'] })).toMatchObject({ words: ['--v=2'] });
  });

  it('reads args alone if the container has the name of the program', () => {
    expect(words({ name: 'kube-apiserver', args: ['--v=2'] })).toMatchObject({ words: ['--v=2'] });
    expect(words({ name: 'other', args: ['--v=2'] })).toBeUndefined();
  });

  it('skips other containers, and returns nothing for a pod without the program', () => {
    const etcd = { name: 'etcd', command: ['etcd', '--data-dir=/x'] };
    const server = { name: 'kube-apiserver', command: ['kube-apiserver', '--v=3'] };
    expect(programInPod(pod(etcd, server), 'kube-apiserver')).toMatchObject({ words: ['--v=3'] });
    expect(programInPod(pod(etcd), 'kube-apiserver')).toBeUndefined();
    expect(programInPod({ kind: 'Pod' }, 'kube-apiserver')).toBeUndefined();
  });

  it.each([
    ['a shell', { name: 'kube-apiserver', command: ['/bin/sh', '-c', 'exec kube-apiserver --v=2'] }, /through a shell/],
    ['a command that is text', { name: 'kube-apiserver', command: 'kube-apiserver --v=2' }, /not lists of text/],
    ['another program', { name: 'kube-apiserver', command: ['hyperkube'] }, /without kube-apiserver/],
  ])('names why it cannot read %s', (_, container, why) => {
    expect((words(container) as { unreadable: string }).unreadable).toMatch(why);
  });

  it('resolves references to literal environment variables as the kubelet does', () => {
    const env = [
      { name: 'IP', value: '10.0.0.1' },
      { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    ];
    const command = ['kube-apiserver', '--a=$(IP)', '--b=$(HOST)', '--c=$$(IP)', '--d=$(NONE)'];
    expect(words({ name: 'x', env, command })).toMatchObject({
      words: ['--a=10.0.0.1', '--b=$(HOST)', '--c=$(IP)', '--d=$(NONE)'],
    });
    expect([hasReference('$(HOST)'), hasReference('$HOST')]).toEqual([true, false]);
  });
});

describe('readFlagWords', () => {
  const read = (...line: string[]) => readFlagWords(line, (name) => name === 'tls-cert-file');

  it('reads every spelling of a flag and its value', () => {
    expect(read('--a=1', '--b', '2', '-v=3', '-v', '4', '-v5', '--c=x=y', '--d=').flags).toEqual([
      { name: 'a', value: '1' },
      { name: 'b', value: '2' },
      { name: 'v', value: '3' },
      { name: 'v', value: '4' },
      { name: 'v', value: '5' },
      { name: 'c', value: 'x=y' },
      { name: 'd', value: '' },
    ]);
  });

  it('takes the next word as a value only if it is no flag, except for flags that always have one', () => {
    expect(read('--allow-privileged', '--x=1', '--tls-cert-file', '--odd', '--last').flags).toEqual([
      { name: 'allow-privileged', value: undefined },
      { name: 'x', value: '1' },
      { name: 'tls-cert-file', value: '--odd' },
      { name: 'last', value: undefined },
    ]);
  });

  it('returns words that belong to no flag', () => {
    expect(read('--a=1', 'stray', '--', '--b=2')).toEqual({
      flags: [{ name: 'a', value: '1' }],
      stray: ['stray', '--b=2'],
    });
  });
});
