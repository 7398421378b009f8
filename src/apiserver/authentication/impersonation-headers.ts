import { headerValue, headerValues, type RawHeaders } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import type { User } from '../contracts/user.js';
import { goQuote } from '../values/go-quote.js';
import { dnsSubdomainProblems } from '../values/object-meta.js';

const USER_HEADER = 'impersonate-user';
const GROUP_HEADER = 'impersonate-group';
const UID_HEADER = 'impersonate-uid';
const EXTRA_PREFIX = 'impersonate-extra-';
const NODE_PREFIX = 'system:node:';

/** The user that the impersonation fields name, exactly as sent. */
export type WantedUser = User;

/**
 * Returns undefined for a request without impersonation. Throws BadRequest, with the message of
 * `refuse`, for other impersonation fields without a user name.
 */
export function wantedUser(headers: RawHeaders, refuse: (wanted: WantedUser) => string): WantedUser | undefined {
  const wanted: WantedUser = {
    name: headerValue(headers, USER_HEADER) ?? '',
    uid: headerValue(headers, UID_HEADER) ?? '',
    groups: headerValues(headers, GROUP_HEADER),
    extra: extraOf(headers),
  };
  if (wanted.name !== '') return wanted;
  if (wanted.uid === '' && wanted.groups.length === 0 && wanted.extra.size === 0) return undefined;
  throw new StatusError('BadRequest', refuse(wanted));
}

function extraOf(headers: RawHeaders): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (!name.startsWith(EXTRA_PREFIX)) continue;
    const key = unescaped(name.slice(EXTRA_PREFIX.length));
    const values = extra.get(key);
    if (values) values.push(headers[i + 1]!);
    else extra.set(key, [headers[i + 1]!]);
  }
  return extra;
}

/** Decodes percent-encoding, which keys of extra fields need. Invalid encoding stays. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The message of kube-apiserver 1.36, which prints the structure in Go syntax. */
export function refusalWithConstraints({ name, uid, groups, extra }: WantedUser): string {
  const list = (texts: readonly string[]) => `[]string{${texts.map(goQuote).join(', ')}}`;
  const groupsText = groups.length === 0 ? '[]string(nil)' : list(groups);
  const pairs = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${goQuote(key)}:${list(values)}`);
  const extraText = pairs.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`;
  const user = `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${groupsText}, Extra:${extraText}}`;
  return `requested ${user} without impersonating a user name`;
}

/** The message before 1.36: object references, most parts of which are empty. */
export function refusalWithoutConstraints({ uid, groups, extra }: WantedUser): string {
  const version = 'authentication.k8s.io/v1';
  const references = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...[...extra].flatMap(([key, values]) => values.map((value) => `{UserExtra  ${value}  ${version}  ${key}}`)),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${version}  }`]),
  ];
  return `requested [${references.join(' ')}] without impersonating a user`;
}

/** Returns the node of a node's user name; undefined for every other user. */
export function nodeOfUserName(userName: string): string | undefined {
  if (!userName.startsWith(NODE_PREFIX)) return undefined;
  const name = userName.slice(NODE_PREFIX.length);
  return dnsSubdomainProblems(name).length === 0 ? name : undefined;
}
