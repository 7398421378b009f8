import { SERVICE_ACCOUNT_PREFIX, type User } from '../contracts/user.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../values/object-meta.js';

const SERVICE_ACCOUNTS_GROUP = 'system:serviceaccounts';

/** Keys of the extra fields of a service account's user. */
export const EXTRA = {
  credentialId: 'authentication.kubernetes.io/credential-id',
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
  nodeName: 'authentication.kubernetes.io/node-name',
  nodeUid: 'authentication.kubernetes.io/node-uid',
} as const;

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export function serviceAccountUserName({ namespace, name }: ServiceAccountName): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return [SERVICE_ACCOUNTS_GROUP, `${SERVICE_ACCOUNTS_GROUP}:${namespace}`];
}

/** Returns the service account of a user name; undefined for every other user. */
export function splitServiceAccountUserName(userName: string): ServiceAccountName | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const [namespace, name, ...rest] = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(':');
  if (namespace === undefined || name === undefined || rest.length > 0) return undefined;
  if (dnsLabelProblems(namespace).length > 0 || dnsSubdomainProblems(name).length > 0) return undefined;
  return { namespace, name };
}

export interface ServiceAccountFacts extends ServiceAccountName {
  readonly uid: string;
  readonly credentialId?: string;
  readonly pod?: { readonly name: string; readonly uid: string };
  readonly node?: { readonly name: string; readonly uid: string };
}

export function serviceAccountUser(facts: ServiceAccountFacts): User {
  const extra = new Map<string, readonly string[]>();
  const add = (key: string, value: string | undefined) => {
    if (value !== undefined && value !== '') extra.set(key, [value]);
  };
  add(EXTRA.credentialId, facts.credentialId);
  if (facts.node && facts.node.name !== '') {
    add(EXTRA.nodeName, facts.node.name);
    add(EXTRA.nodeUid, facts.node.uid);
  }
  if (facts.pod && facts.pod.name !== '' && facts.pod.uid !== '') {
    add(EXTRA.podName, facts.pod.name);
    add(EXTRA.podUid, facts.pod.uid);
  }
  return { name: serviceAccountUserName(facts), uid: facts.uid, groups: serviceAccountGroups(facts.namespace), extra };
}
