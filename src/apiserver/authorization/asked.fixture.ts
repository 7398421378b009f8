import { isObject, type Json, type JsonObject } from '../../kube/json.js';

/** Who makes the recorded requests. */
export const TESTER = { name: 'tester', uid: 'tester-uid', group: 'developers' } as const;
export const TESTER_GROUPS: readonly string[] = [TESTER.group, 'system:authenticated'];

/** One question to the authorizer in the form of SubjectAccessReview. */
export interface AccessSpec {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly resourceAttributes?: JsonObject;
  readonly nonResourceAttributes?: JsonObject;
}

/** `verb resource`, `verb resource/subresource` or `verb /path`: the form in which cases refuse rights. */
export function rightOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): string {
  if (nonResourceAttributes) return `${nonResourceAttributes['verb']} ${nonResourceAttributes['path']}`;
  const { verb, resource, subresource = '' } = resourceAttributes ?? {};
  return subresource === '' ? `${verb} ${resource}` : `${verb} ${resource}/${subresource}`;
}

/** A question to the authorizer as recorded: without what is empty, and without the user where it is the usual one. */
export function shownAccess(spec: AccessSpec, allowed: boolean): JsonObject {
  const { resourceAttributes, nonResourceAttributes } = spec;
  return {
    may: rightOf(spec),
    ...(allowed ? {} : { allowed }),
    ...filled({ ...resourceAttributes, verb: '', resource: '', subresource: '' }),
    ...(nonResourceAttributes ? { isPath: true } : {}),
    ...shownUser(spec.user, spec.uid, spec.groups, spec.extra),
  };
}

/** A question to an admission webhook as recorded; of the objects only their kind and the fields they have. */
export function shownReview(kind: string, review: JsonObject): JsonObject {
  const request = review['request'] as JsonObject;
  const { username, uid, groups, extra } = request['userInfo'] as JsonObject;
  const triple = (value: Json | undefined, last: string): string => {
    const { group, version, [last]: name } = value as JsonObject;
    return [group, version, name].filter((part) => part !== '').join('/');
  };
  const resource = triple(request['resource'], 'resource');
  const options = request['options'];
  return {
    [kind]: request['operation']!,
    resource: request['subResource'] === undefined ? resource : `${resource} ${request['subResource']}`,
    kind: triple(request['kind'], 'kind'),
    ...(triple(request['requestResource'], 'resource') === resource
      ? {}
      : { requestResource: triple(request['requestResource'], 'resource') }),
    ...filled({ namespace: request['namespace'], name: withoutSuffix(request['name']) }),
    ...(request['dryRun'] === true ? { dryRun: true } : {}),
    options: isObject(options) ? withoutUids(filled({ ...options, apiVersion: '' })) : null,
    object: shownObject(request['object']),
    oldObject: shownObject(request['oldObject']),
    ...shownUser(
      username as string,
      uid as string,
      groups as unknown as string[],
      extra as unknown as Record<string, string[]>,
    ),
  };
}

export const isWriter = (review: JsonObject): boolean => {
  const { groups } = (review['request'] as JsonObject)['userInfo'] as { groups?: string[] };
  return groups?.includes('system:masters') !== true;
};

function shownUser(
  name = '',
  uid = '',
  groups: readonly string[] = [],
  extra: Readonly<Record<string, readonly string[]>> = {},
): JsonObject {
  const isUsual =
    name === TESTER.name &&
    uid === TESTER.uid &&
    groups.join() === TESTER_GROUPS.join() &&
    Object.keys(extra).length === 0;
  if (isUsual) return {};
  return { user: filled({ name, uid, groups: [...groups], extra: extra as unknown as JsonObject }) };
}

/** `spec.extra` is that of the administrator who prepares a case; it depends on how that one authenticates. */
function shownObject(value: Json | undefined): Json {
  if (!isObject(value)) return null;
  const { apiVersion, kind, metadata, ...rest } = value;
  const { name, generateName, namespace } = isObject(metadata) ? metadata : {};
  const { extra: _, ...fields } = isObject(rest['spec']) ? rest['spec'] : {};
  const spec = isObject(rest['spec']) ? { spec: Object.keys(fields).sort().join(' ') } : {};
  return {
    kind: `${apiVersion} ${kind}`,
    ...filled({ name: generateName === undefined ? name : undefined, generateName, namespace }),
    fields: Object.keys(rest).sort().join(' '),
    ...spec,
  };
}

/** Generated names differ from run to run. */
function withoutSuffix(name: Json | undefined): Json | undefined {
  return typeof name === 'string' ? name.replace(/^made-\w{5}$/, 'made-*') : name;
}

function filled(object: Readonly<Record<string, Json | undefined>>): JsonObject {
  const kept = Object.entries(object).filter(([, value]) => {
    if (value === undefined || value === '' || value === null) return false;
    if (Array.isArray(value)) return value.length > 0;
    return !isObject(value) || Object.keys(value).length > 0;
  });
  return Object.fromEntries(kept) as JsonObject;
}

/** The answer as recorded: of a refusal its words, of all else the kind. */
export function shownAnswer(status: number, text: string): JsonObject {
  const body = text.startsWith('{"') || text.startsWith('{\n') ? parsed(text) : undefined;
  if (!isObject(body)) return { status, ...(status >= 400 ? { text: text.slice(0, 200) } : {}) };
  if (body['kind'] !== 'Status') return { status, ...filled({ kind: body['kind'] }) };
  const message = typeof body['message'] === 'string' ? comparable(body['message']) : undefined;
  return { status, kind: 'Status', ...filled({ reason: body['reason'], message }) };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function withoutUids(object: JsonObject): JsonObject {
  return JSON.parse(comparable(JSON.stringify(object))) as JsonObject;
}

function comparable(message: string): string {
  return message
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uid>')
    .replace(/127\.0\.0\.\d+(:\d+)?/g, '<address>')
    .replace(/made-\w{5}\b/g, 'made-*');
}
