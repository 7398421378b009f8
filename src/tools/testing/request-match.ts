import { checkKeys, shown } from './check-keys.js';

/** A text, several of them, a regular expression or a function. */
export type TextMatch = string | readonly string[] | RegExp | ((text: string) => boolean);

/** Which requests are meant: those for which every given member matches. `{}` matches all. */
export interface RequestMatch {
  /** The server that got the request from its client: `server-1`. */
  readonly server?: TextMatch;
  /** As Kubernetes names it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb?: TextMatch;
  /** `pods`, `deployments.apps`, and with a subresource `pods/status`; `pods` alone does not match `pods/status`. */
  readonly resource?: TextMatch;
  readonly namespace?: TextMatch;
  readonly name?: TextMatch;
  /** `kubernetes-admin`, `system:serviceaccount:default:operator`. */
  readonly user?: TextMatch;
  readonly userAgent?: TextMatch;
  /** Path and query. */
  readonly path?: TextMatch;
  /** Of the reply; only for recorded requests. */
  readonly status?: number | readonly number[] | ((status: number) => boolean);
}

/** The part of a request that can be matched. */
export interface MatchedRequest {
  readonly server: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly userAgent: string;
  readonly path: string;
  /** Undefined before the reply. */
  readonly status?: number;
}

const NAMES: Record<keyof RequestMatch, true> = {
  server: true,
  verb: true,
  resource: true,
  namespace: true,
  name: true,
  user: true,
  userAgent: true,
  path: true,
  status: true,
};
const TEXTS = ['server', 'verb', 'namespace', 'name', 'user', 'userAgent', 'path'] as const;

/** Throws for a match that callers without TypeScript may have got wrong. */
export function checkMatch(where: string, match: RequestMatch, { hasReply }: { readonly hasReply: boolean }): void {
  if (typeof match !== 'object' || match === null)
    throw new Error(`${where}: ${shown(match)} is no match; give an object.`);
  checkKeys(where, match, Object.keys(NAMES));
  if (!hasReply && match.status !== undefined) throw new Error(`${where}: status is known after the reply only.`);
  for (const [key, value] of Object.entries(match)) {
    const isFine = key === 'status' ? isStatusMatch(value) : isTextMatch(value);
    if (value !== undefined && !isFine) throw new Error(`${where}: ${key} cannot be ${shown(value)}.`);
  }
}

export function matches(match: RequestMatch, request: MatchedRequest): boolean {
  if (!TEXTS.every((key) => match[key] === undefined || matchesText(match[key], request[key]))) return false;
  if (match.resource !== undefined && !resourceNames(request).some((name) => matchesText(match.resource!, name)))
    return false;
  return match.status === undefined || matchesStatus(match.status, request.status);
}

function isTextMatch(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'function' || value instanceof RegExp) return true;
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isStatusMatch(value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'function') return true;
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

function matchesText(match: TextMatch, text: string): boolean {
  if (typeof match === 'string') return match === text;
  if (typeof match === 'function') return match(text);
  // `test` of an expression with the flag g begins where the last one ended.
  return match instanceof RegExp ? text.search(match) !== -1 : match.includes(text);
}

function matchesStatus(match: NonNullable<RequestMatch['status']>, status: number | undefined): boolean {
  if (status === undefined) return false;
  if (typeof match === 'number') return match === status;
  return typeof match === 'function' ? match(status) : match.includes(status);
}

function resourceNames({ group, resource, subresource }: MatchedRequest): string[] {
  if (resource === '') return [];
  const end = subresource === '' ? '' : `/${subresource}`;
  return group === '' ? [`${resource}${end}`] : [`${resource}${end}`, `${resource}.${group}${end}`];
}
