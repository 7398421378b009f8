import { describe, expect, it } from 'vitest';
import { kubeconfigPath, parseKubeconfig } from './kubeconfig.js';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const PEM_BASE64 = Buffer.from(PEM).toString('base64');

function kubeconfig(user: string, cluster = 'server: https://10.0.0.1:6443/'): string {
  return `
apiVersion: v1
kind: Config
current-context: prod
contexts: [{name: prod, context: {cluster: c, user: u}}, {name: other, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
`;
}

describe('kubeconfig', () => {
  it('accepts inline certificates and files relative to it', () => {
    const access = parseKubeconfig(
      kubeconfig(
        `client-certificate-data: ${PEM_BASE64}, client-key: keys/u.key`,
        `server: "https://10.0.0.1:6443/", certificate-authority: /abs/ca.crt, tls-server-name: kubernetes`,
      ),
      { path: '/etc/k/config' },
    );
    expect(access).toMatchObject({
      context: 'prod',
      server: 'https://10.0.0.1:6443',
      ca: { file: '/abs/ca.crt' },
      serverName: 'kubernetes',
      clientCert: { pem: PEM },
      clientKey: { file: '/etc/k/keys/u.key' },
      insecureSkipTlsVerify: false,
    });
  });

  it('accepts tokens and token files', () => {
    expect(parseKubeconfig(kubeconfig('token: abc'), { path: '/k' }).token).toBe('abc');
    expect(parseKubeconfig(kubeconfig('tokenFile: t'), { path: '/x/k' }).tokenFile).toBe('/x/t');
  });

  it.each([
    ['an exec plugin', kubeconfig('exec: {command: x}'), /exec plugin.*not support/],
    ['a certificate without key', kubeconfig(`client-certificate-data: ${PEM_BASE64}`), /needs both/],
    ['plain http', kubeconfig('token: a', 'server: "http://10.0.0.1"'), /https only/],
    ['data that is no PEM', kubeconfig('client-certificate-data: YQ==, client-key: k'), /not base64 of PEM/],
    ['another kind', 'kind: Pod', /not a kubeconfig/],
    ['broken YAML', 'a: [', /not valid YAML/],
  ])('refuses %s with a sentence', (_, text, message) => {
    expect(() => parseKubeconfig(text, { path: '/k' })).toThrow(message);
  });

  it('names an unknown context and suggests the nearest', () => {
    expect(() => parseKubeconfig(kubeconfig('token: a'), { path: '/k', context: 'othr' })).toThrow(
      /no context "othr".*"other"/,
    );
  });

  it('is found by the flag, then $KUBECONFIG, then the home directory', () => {
    expect(kubeconfigPath('/flag', { KUBECONFIG: '/env' }, '/home/a')).toBe('/flag');
    expect(kubeconfigPath(undefined, { KUBECONFIG: ':/env:/env2' }, '/home/a')).toBe('/env');
    expect(kubeconfigPath(undefined, {}, '/home/a')).toBe('/home/a/.kube/config');
  });
});
