import type { MadePki } from './pki.js';

const base64 = (pem: string): string => Buffer.from(pem).toString('base64');

/**
 * Returns a kubeconfig for the user kubernetes-admin of the group system:masters, with a context for
 * each server; the first is the current one.
 */
export function adminKubeconfig(
  servers: readonly { readonly name: string; readonly address: string }[],
  { ca, admin }: MadePki,
): string {
  const clusters = servers.map(
    ({ name, address }) => `  - name: ${name}
    cluster:
      server: https://${address}
      certificate-authority-data: ${base64(ca.certPem)}
`,
  );
  const contexts = servers.map(
    ({ name }) => `  - name: ${name}
    context:
      cluster: ${name}
      user: admin
`,
  );
  return `apiVersion: v1
kind: Config
clusters:
${clusters.join('')}users:
  - name: admin
    user:
      client-certificate-data: ${base64(admin.certPem)}
      client-key-data: ${base64(admin.keyPem)}
contexts:
${contexts.join('')}current-context: ${servers[0]!.name}
`;
}
