import { headerValue, headerValues, type RawHeaders } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { goQuote } from '../values/go-quote.js';
import { dnsSubdomainProblems } from '../values/object-meta.js';

const USER_HEADER = 'impersonate-user';
const GROUP_HEADER = 'impersonate-group';
const UID_HEADER = 'impersonate-uid';
const EXTRA_PREFIX = 'impersonate-extra-';
const NODE_PREFIX = 'system:node:';

/** Whom a request wants to be made as, word for word. */
export interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** Fields that must not reach anybody behind the server that acted on them. */
export function isImpersonationHeader(lowerName: string): boolean {
  return (
    lowerName === USER_HEADER ||
    lowerName === GROUP_HEADER ||
    lowerName === UID_HEADER ||
    lowerName.startsWith(EXTRA_PREFIX)
  );
}

/** Undefined where the request is made as whoever makes it. `refuse` words the answer to groups without a user. */
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

/** Header names cannot hold every key; what is no valid escape is taken as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Go's notation of the structure, as kube-apiserver 1.36 has it in its message. */
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

/** The same before 1.36: object references, of which most parts are empty. */
export function refusalWithoutConstraints({ uid, groups, extra }: WantedUser): string {
  const version = 'authentication.k8s.io/v1';
  const references = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...[...extra].flatMap(([key, values]) => values.map((value) => `{UserExtra  ${value}  ${version}  ${key}}`)),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${version}  }`]),
  ];
  return `requested [${references.join(' ')}] without impersonating a user`;
}

/** The node that a user name stands for; undefined for every other user. */
export function nodeOfUserName(userName: string): string | undefined {
  if (!userName.startsWith(NODE_PREFIX)) return undefined;
  const name = userName.slice(NODE_PREFIX.length);
  return dnsSubdomainProblems(name).length === 0 ? name : undefined;
}
