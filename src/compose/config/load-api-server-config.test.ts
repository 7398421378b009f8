import { describe, expect, it } from 'vitest';
import { shippedVersions } from '../../apiserver/surfaces/shipped-versions.js';
import type { FlagName } from './flags.js';
import { loadApiServerConfig } from './load-api-server-config.js';
import type { Machine } from './load-server-config.js';

const machine: Machine = {
  hostname: 'cp1',
  addresses: ['127.0.0.1', '10.0.0.1'],
  readFile: () => 'data-dir: /from/file\nruntime-config: [batch/v1=false]\n',
};
const load = (flags: Partial<Record<FlagName, string[]>>) =>
  loadApiServerConfig(new Map(Object.entries(flags)) as Map<FlagName, string[]>, machine);
const problems = (flags: Partial<Record<FlagName, string[]>>): readonly string[] => {
  try {
    load(flags);
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
  return [];
};

describe('configuration of an API server', () => {
  it('needs a data folder and nothing else', () => {
    const config = load({ 'data-dir': ['/d'] });
    expect(config.tlsCertFile).toBe('/d/pki/apiserver-cp1.crt');
    expect(config.clientCaFile).toBe('/d/pki/ca.crt');
    expect(config.requestHeader).toMatchObject({
      clientCaFile: '/d/pki/front-proxy-ca.crt',
      allowedNames: ['front-proxy-client'],
    });
    expect([config.peeringActive, config.etcd, config.kubernetesVersion]).toEqual([true, undefined, undefined]);
    expect(config.stateDir).toBe('/d/state/cp1');
    expect(config.passthroughFile).toBe('/d/state/cp1/passthrough');
    expect(problems({})).toEqual(['Give --data-dir: the store, certificates and the kubeconfig are kept there.']);
  });

  it('uses client CA and signing key of the flags instead of generated files', () => {
    const config = load({ 'data-dir': ['/d'], 'client-ca-file': ['/ca'], 'service-account-signing-key-file': ['/sa'] });
    expect([config.clientCaFile, config.serviceAccounts.signingKeyFile]).toEqual(['/ca', '/sa']);
  });

  it('replaces characters of server names that could change a path', () => {
    expect(load({ 'data-dir': ['/d'], 'server-name': ['../../x'] }).tlsCertFile).toBe('/d/pki/apiserver-_._.._x.crt');
  });

  it('reads its flags from a file', () => {
    expect(load({ config: ['c.yaml'] })).toMatchObject({ dataDir: '/from/file', runtimeConfig: ['batch/v1=false'] });
  });

  it('listens for this machine alone unless told otherwise, without a warning about it', () => {
    const { bindAddress, peerAdvertiseIp, notes } = load({ 'data-dir': ['/d'] });
    expect([bindAddress, peerAdvertiseIp, notes]).toEqual(['127.0.0.1', '127.0.0.1', []]);
    const { notes: warnings } = load({ 'data-dir': ['/d'], 'etcd-servers': ['https://10.0.0.9:2379'] });
    expect(warnings.join()).toContain('only servers on this machine can');
    const everywhere = load({ 'data-dir': ['/d'], 'bind-address': ['0.0.0.0'] });
    expect([everywhere.bindAddress, everywhere.peerAdvertiseIp]).toEqual(['0.0.0.0', '10.0.0.1']);
  });

  it('refuses an address for other machines while it listens for this machine alone', () => {
    expect(problems({ 'data-dir': ['/d'], 'advertise-address': ['10.0.0.1'] })).toEqual([
      '--advertise-address=10.0.0.1, but this server listens on 127.0.0.1 only: give --bind-address too, 10.0.0.1 or 0.0.0.0 for every address.',
    ]);
    const given = { 'data-dir': ['/d'], 'advertise-address': ['10.0.0.1'], 'bind-address': ['0.0.0.0'] };
    expect(problems(given)).toEqual([]);
  });

  it('has all controllers by default, none where the flag is empty, and each chosen controller once', () => {
    expect(load({ 'data-dir': ['/d'] }).controllers).toEqual(['namespace', 'garbagecollector', 'serviceaccount']);
    expect(load({ 'data-dir': ['/d'], controllers: [''] }).controllers).toEqual([]);
    const given = { 'data-dir': ['/d'], controllers: ['namespace,garbagecollector', 'namespace'] };
    expect(load(given).controllers).toEqual(['namespace', 'garbagecollector']);
    const [found] = problems({ 'data-dir': ['/d'], controllers: ['garbage-collector'] });
    expect(found).toContain('garbagecollector');
  });

  it('names each invalid value', () => {
    const found = problems({
      'data-dir': ['/d'],
      'kubernetes-version': ['latest'],
      'runtime-config': ['batch/v1=maybe'],
      'service-cluster-ip-range': ['all'],
      'etcd-servers': ['etcd:2379'],
      'etcd-certfile': ['c'],
    });
    expect(found).toHaveLength(5);
    const known = shippedVersions().join(', ');
    expect(found.join()).toContain(`--kubernetes-version: latest does not come with Straddle; ${known} do; `);
    expect(found.join()).toContain('--etcd-servers');
  });

  it('refuses --workers, and names the alternative', () => {
    expect(problems({ 'data-dir': ['/d'], workers: ['2'] }).join()).toMatch(
      /--workers=2: .* start several on one --data-dir/,
    );
    expect(problems({ 'data-dir': ['/d'], workers: ['1'] })).toEqual([]);
  });
});
