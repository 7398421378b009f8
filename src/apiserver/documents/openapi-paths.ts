import { apiPath } from '../../kube/gvr.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { PATCH_SCOPE, parameterName } from '../descriptions/descriptions-file.js';
import type { Subresource } from '../registry/resource-type.js';
import { type Discoverable, isCustom, subresourcesOf } from './group-discovery.js';
import { pathParameters, queryParameters, sorted } from './openapi-parameters.js';
import { described, META, METHODS, reference } from './openapi-schema.js';

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'application/json;stream=watch';
const PATCH_TYPES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
const STRATEGIC = 'application/strategic-merge-patch+json';
const ANSWERS: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };
const CODES: Readonly<Record<string, readonly string[]>> = {
  post: ['200', '201', '202'],
  put: ['200', '201'],
  patch: ['200', '201'],
  delete: ['200', '202'],
};
type Method = (typeof METHODS)[number];

export interface PathTypes {
  /** Returns the OpenAPI type of a kind; undefined if it has none. */
  typeName(group: string, version: string, kind: string): string | undefined;
  /** Returns the description of a parameter; see `Descriptions.ofParameter`. */
  parameterText(scope: string, name: string): string | undefined;
}

interface Operation {
  readonly method: Method;
  /** `x-kubernetes-action`. */
  readonly action: string;
  /** The parts of `operationId` before and after group and version. */
  readonly id: readonly [verb: string, rest: string];
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly answer: string | undefined;
  readonly body?: string | undefined;
  /** See `queryParameters`. */
  readonly place?: string;
}

/** Makes all paths of one resource, with their operations. */
export function resourcePaths(each: Discoverable, types: PathTypes): JsonObject {
  const { collection, base } = placeOf(each);
  const paths: JsonObject = {};
  const at: At = { types, each, scope: each.namespaced ? 'Namespaced' : '' };
  const add = (path: string, operations: readonly Operation[]): void => {
    if (operations.length > 0) paths[path] = pathItem(at, path, operations);
  };
  add(collection, collectionOperations(at));
  add(`${collection}/{name}`, itemOperations(at));
  if (each.namespaced && each.verbs.has('list')) add(`${base}/${each.resource}`, [listOperation(at, true)]);
  for (const sub of subresourcesOf(each)) {
    const path = `${collection}/{name}/${sub.name}`;
    add(path, subresourceOperations(at, sub, ''));
    if (isProxy(sub)) add(`${path}/{path}`, subresourceOperations(at, sub, 'WithPath'));
  }
  // kube-apiserver has these deprecated paths for built-in resources only.
  if (each.verbs.has('watch') && !isCustom(each)) {
    const watched = collection.replace(base, `${base}/watch`);
    add(watched, [watchOperation(at, 'List', 'watchlist')]);
    add(`${watched}/{name}`, [watchOperation(at, '', 'watch')]);
    if (each.namespaced)
      add(`${base}/watch/${each.resource}`, [watchOperation(at, 'ListForAllNamespaces', 'watchlist')]);
  }
  return paths;
}

function placeOf({ group, version, namespaced, resource }: Discoverable): { base: string; collection: string } {
  const base = apiPath(group, version);
  return { base, collection: `${base}${namespaced ? '/namespaces/{namespace}' : ''}/${resource}` };
}

interface At {
  readonly types: PathTypes;
  readonly each: Discoverable;
  readonly scope: 'Namespaced' | '';
}

function collectionOperations(at: At): Operation[] {
  const { each, scope } = at;
  const typeName = kindTypeName(at);
  const operations: Operation[] = [];
  if (each.verbs.has('list')) operations.push(listOperation(at, false));
  const id = `${scope}${each.kind}`;
  if (each.verbs.has('create')) {
    operations.push({
      method: 'post',
      action: 'post',
      id: ['create', id],
      kind: each,
      answer: typeName,
      body: typeName,
    });
  }
  if (each.verbs.has('deletecollection')) {
    operations.push({
      method: 'delete',
      action: 'deletecollection',
      id: ['delete', `Collection${id}`],
      kind: each,
      answer: `${META}Status`,
      body: `${META}DeleteOptions`,
    });
  }
  return operations;
}

function itemOperations(at: At): Operation[] {
  return objectOperations(at, at.each.verbs, { kind: at.each, typeName: kindTypeName(at), suffix: '' });
}

function subresourceOperations(at: At, sub: Subresource, suffix: string): Operation[] {
  const kind = { group: sub.kindGroup, version: sub.kindVersion, kind: sub.kind };
  const name = `${capital(sub.name)}${suffix}`;
  if (isConnection(sub)) return connectOperations(at, sub, name);
  const typeName = at.types.typeName(kind.group, kind.version, kind.kind);
  const id = `${at.scope}${at.each.kind}${name}`;
  const operations = objectOperations(at, sub.verbs, { kind, typeName, suffix: name }).map((operation) =>
    operation.method === 'get' && sub.name === 'log'
      ? { ...operation, answer: undefined, place: `${at.each.resource}/${sub.name}` }
      : operation,
  );
  if (!sub.verbs.has('create')) return operations;
  return [
    { method: 'post', action: 'post', id: ['create', id], kind, answer: typeName, body: typeName },
    ...operations,
  ];
}

interface Target {
  readonly kind: Operation['kind'];
  readonly typeName: string | undefined;
  readonly suffix: string;
}

/** Makes the operations on one object or subresource. */
function objectOperations(at: At, verbs: ReadonlySet<string>, { kind, typeName, suffix }: Target): Operation[] {
  const id = `${at.scope}${at.each.kind}${suffix}`;
  const of = (verb: string, operation: Omit<Operation, 'kind' | 'action'>): Operation[] =>
    verbs.has(verb) ? [{ ...operation, kind, action: operation.method }] : [];
  return [
    ...of('get', { method: 'get', id: ['read', id], answer: typeName }),
    ...of('update', { method: 'put', id: ['replace', id], answer: typeName, body: typeName }),
    ...of('delete', {
      method: 'delete',
      id: ['delete', id],
      answer: `${META}Status`,
      body: `${META}DeleteOptions`,
    }),
    ...of('patch', { method: 'patch', id: ['patch', id], answer: typeName, body: `${META}Patch` }),
  ];
}

/** Makes the operations of a connection: all methods for a proxy, GET and POST for an upgrade. */
function connectOperations(at: At, sub: Subresource, name: string): Operation[] {
  const kind = { group: sub.kindGroup, version: sub.kindVersion, kind: sub.kind };
  const methods = isProxy(sub) ? METHODS : (['get', 'post'] as const);
  return methods.map((method) => ({
    method,
    action: 'connect',
    id: ['connect', `${capital(method)}${at.scope}${at.each.kind}${name}`],
    kind,
    answer: undefined,
    place: sub.kind,
  }));
}

function listOperation(at: At, everywhere: boolean): Operation {
  const { each, scope, types } = at;
  const listKind = 'listKind' in each ? each.listKind : `${each.kind}List`;
  return {
    method: 'get',
    action: 'list',
    id: ['list', everywhere ? `${each.kind}ForAllNamespaces` : `${scope}${each.kind}`],
    kind: each,
    answer: types.typeName(each.group, each.version, listKind),
  };
}

function watchOperation({ each, scope }: At, suffix: string, action: string): Operation {
  const isEverywhere = suffix === 'ListForAllNamespaces';
  return {
    method: 'get',
    action,
    id: ['watch', `${isEverywhere ? '' : scope}${each.kind}${suffix}`],
    kind: each,
    answer: `${META}WatchEvent`,
  };
}

function kindTypeName({ types, each }: At): string | undefined {
  return types.typeName(each.group, each.version, each.kind);
}

function isConnection(sub: Subresource): boolean {
  return sub.kind.endsWith('Options') && sub.verbs.has('create');
}

function isProxy(sub: Subresource): boolean {
  return sub.kind.endsWith('ProxyOptions');
}

/** Makes a path. Parameters that all its operations have in common are members of the path. */
function pathItem({ each, types }: At, path: string, operations: readonly Operation[]): JsonObject {
  const place = isCustom(each) ? 'custom' : '';
  const withTexts = (parameters: readonly JsonObject[], scope: string): JsonObject[] =>
    parameters.map((parameter) => described(parameter, types.parameterText(scope, parameterName(parameter))));
  const parameterLists = operations.map(({ action, kind, place: ownPlace = place }) =>
    withTexts(queryParameters(action, ownPlace), action === PATCH_SCOPE ? PATCH_SCOPE : kind.kind),
  );
  const names = parameterLists.map((list) => new Set(list.map(({ name }) => name)));
  const isShared = ({ name }: JsonObject): boolean => names.every((set) => set.has(name!));
  const item: JsonObject = {};
  for (const method of METHODS) {
    const index = operations.findIndex((operation) => operation.method === method);
    if (index < 0) continue;
    const parameters = parameterLists[index]!.filter((parameter) => !isShared(parameter));
    item[method] = operationObject(each, operations[index]!, parameters);
  }
  const shared = [...withTexts(pathParameters(path), operations[0]!.kind.kind), ...parameterLists[0]!.filter(isShared)];
  item['parameters'] = sorted(shared);
  return item;
}

function operationObject(each: Discoverable, operation: Operation, parameters: JsonObject[]): JsonObject {
  const { action, body, kind } = operation;
  const [verb, rest] = operation.id;
  return {
    tags: [tagOf(each.group, each.version)],
    operationId: `${verb}${operationPlace(each.group, each.version)}${rest}`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: requestBody(each, action, body) }),
    responses: responses(operation),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  };
}

function requestBody(each: Discoverable, action: string, typeName: string): JsonObject {
  const schema = { schema: reference(typeName) };
  const custom = isCustom(each);
  const whole = custom ? [JSON_TYPE, 'application/yaml'] : ['*/*'];
  const mediaTypes = action !== 'patch' ? whole : custom ? PATCH_TYPES : [...PATCH_TYPES, STRATEGIC];
  return {
    content: Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, schema])),
    ...(action.startsWith('delete') ? {} : { required: true }),
  };
}

function responses({ action, answer }: Operation): JsonObject {
  const schema: JsonObject = { schema: answer === undefined ? { type: 'string' } : reference(answer) };
  const streams = action === 'list' || action.startsWith('watch');
  const isText = answer === undefined;
  const content: Record<string, Json> = {};
  content[isText ? '*/*' : JSON_TYPE] = schema;
  if (streams) content[STREAM_TYPE] = schema;
  const answers: JsonObject = {};
  for (const code of CODES[action] ?? ['200']) answers[code] = { description: ANSWERS[code]!, content };
  answers['401'] = { description: ANSWERS['401']! };
  return answers;
}

/** `rbacAuthorization_v1`. */
export function tagOf(group: string, version: string): string {
  return `${camel(groupWords(group), false)}_${camel(version, false)}`;
}

/** `RbacAuthorizationV1`: makes the names of operations unique. */
export function operationPlace(group: string, version: string): string {
  return `${camel(groupWords(group), true)}${camel(version, true)}`;
}

function groupWords(group: string): string {
  return group === '' ? 'core' : group.replace(/\.k8s\.io$/, '');
}

function camel(text: string, fromFirst: boolean): string {
  const words = text.split(/[^A-Za-z0-9_]+/).filter((word) => word !== '');
  return words.map((word, index) => (index > 0 || fromFirst ? capital(word) : word)).join('');
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
