import { X509Certificate } from 'node:crypto';
import { load } from 'js-yaml';
import { isObject, type JsonObject } from '../kube/json.js';
import { AUTHORITY_NAME, type MadePki } from './pki.js';

/** Name of the only server and context in the kubeconfig of an embedded API server. */
export const EMBEDDED_NAME = 'straddle';
const ADMIN = 'admin';

const base64 = (pem: string): string => Buffer.from(pem).toString('base64');

export interface KubeconfigServer {
  readonly name: string;
  readonly address: string;
}

export interface KubeconfigUser {
  /** In the file only. */
  readonly name: string;
  readonly credentials: { readonly cert: string; readonly key: string } | { readonly token: string };
}

/**
 * Returns a kubeconfig for the user kubernetes-admin of the group system:masters, with a context for
 * each server; the first is the current one.
 */
export function adminKubeconfig(servers: readonly KubeconfigServer[], { ca, admin }: MadePki): string {
  const credentials = { cert: admin.certPem, key: admin.keyPem };
  return kubeconfigOf(servers, ca.certPem, { name: ADMIN, credentials });
}

/** The same for any user. */
export function kubeconfigOf(servers: readonly KubeconfigServer[], ca: string, user: KubeconfigUser): string {
  const { credentials } = user;
  const clusters = servers.map(
    ({ name, address }) => `  - name: ${name}
    cluster:
      server: https://${address}
      certificate-authority-data: ${base64(ca)}
`,
  );
  const contexts = servers.map(
    ({ name }) => `  - name: ${name}
    context:
      cluster: ${name}
      user: ${JSON.stringify(user.name)}
`,
  );
  const secrets =
    'token' in credentials
      ? `      token: ${credentials.token}
`
      : `      client-certificate-data: ${base64(credentials.cert)}
      client-key-data: ${base64(credentials.key)}
`;
  return `apiVersion: v1
kind: Config
clusters:
${clusters.join('')}users:
  - name: ${JSON.stringify(user.name)}
    user:
${secrets}contexts:
${contexts.join('')}current-context: ${servers[0]!.name}
`;
}

/** Returns whether all users of a kubeconfig have certificates of an authority that Straddle made. */
export function hasMadeAdmin(kubeconfig: string): boolean {
  const users = entriesOf(kubeconfig, 'users');
  return users.length > 0 && users.every(({ user }) => isObject(user) && isMade(user['client-certificate-data']));
}

/** Returns whether nothing is lost with a kubeconfig: its users are made ones, or it is in the form that one server writes. */
export function mayBeReplaced(kubeconfig: string): boolean {
  if (kubeconfig.trim() === '' || hasMadeAdmin(kubeconfig)) return true;
  const [clusters, users] = [entriesOf(kubeconfig, 'clusters'), entriesOf(kubeconfig, 'users')];
  return clusters.length + users.length > 0 && clusters.every(isNamed(EMBEDDED_NAME)) && users.every(isNamed(ADMIN));
}

function entriesOf(kubeconfig: string, list: string): JsonObject[] {
  try {
    const root: unknown = load(kubeconfig);
    const entries = isObject(root) ? root[list] : undefined;
    return Array.isArray(entries) ? entries.filter(isObject) : [];
  } catch {
    return [];
  }
}

function isNamed(wanted: string): (entry: JsonObject) => boolean {
  return ({ name }) => name === wanted;
}

function isMade(certificate: unknown): boolean {
  try {
    return new X509Certificate(Buffer.from(String(certificate), 'base64')).issuer === `CN=${AUTHORITY_NAME}`;
  } catch {
    return false;
  }
}
