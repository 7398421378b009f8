import { writeFileSync } from 'node:fs';
import type { KeyPair, Pki } from './pki.js';

export interface KubeconfigOptions {
  readonly pki: Pick<Pki, 'ca' | 'users'>;
  /** Cluster name → URL. Each becomes a context of the same name, used as admin. */
  readonly clusters: Readonly<Record<string, string>>;
  readonly current: string;
}

/** JSON is YAML, and needs no writer. */
export function writeKubeconfig(path: string, { pki, clusters, current }: KubeconfigOptions): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const user = (name: string, pair: KeyPair) => ({
    name,
    user: { 'client-certificate-data': base64(pair.certPem), 'client-key-data': base64(pair.keyPem) },
  });
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: Object.entries(clusters).map(([name, server]) => ({
      name,
      cluster: { server, 'certificate-authority-data': base64(pki.ca.certPem) },
    })),
    users: [user('admin', pki.users.admin), user('alice', pki.users.alice)],
    contexts: Object.keys(clusters).map((name) => ({ name, context: { cluster: name, user: 'admin' } })),
  };
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
