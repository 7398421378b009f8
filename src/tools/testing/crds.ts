import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { text } from '../../kube/fields.js';
import { apiPath } from '../../kube/gvr.js';
import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { askServer } from '../plane/plane-client.js';
import { shown } from './check-keys.js';
import { type AskedServer, putObject, untilTrue } from './test-objects.js';

/**
 * CustomResourceDefinitions: objects, YAML or JSON as text, or the paths of files and of folders with them. In folders,
 * objects of other kinds are passed over.
 */
export type DefinitionSource = object | string;

const API_VERSION = 'apiextensions.k8s.io/v1';
const KIND = 'CustomResourceDefinition';
const COLLECTION = `/apis/${API_VERSION}/customresourcedefinitions`;
const FILE_NAME = /\.(?:ya?ml|json)$/;

/** Reads all definitions. Throws for anything else, with its place. */
export function readDefinitions(sources: DefinitionSource | readonly DefinitionSource[]): JsonObject[] {
  const all = Array.isArray(sources) ? (sources as readonly DefinitionSource[]) : [sources];
  return all.flatMap((source) => {
    if (typeof source === 'string') return isManifest(source) ? manifest('crds', source) : fromPath(source);
    if (!isObject(source)) throw new Error(`crds: ${shown(source)} is neither an object nor text.`);
    return [checked('crds', structuredClone(source))];
  });
}

/** Creates definitions. Resolves when every server serves their resources. */
export async function establish(servers: readonly AskedServer[], definitions: readonly JsonObject[]): Promise<void> {
  for (const definition of definitions) await putObject(servers, `crds: ${nameOf(definition)}`, COLLECTION, definition);
  await untilServed(servers, definitions);
}

/** Resolves when every server serves the resources of these definitions itself. */
export async function untilServed(servers: readonly AskedServer[], definitions: readonly JsonObject[]): Promise<void> {
  await eachCollection(servers, definitions, (status) => status === 200);
}

/** Asks every server itself for every resource, until the status is right. */
async function eachCollection(
  servers: readonly AskedServer[],
  definitions: readonly JsonObject[],
  isRight: (status: number) => boolean,
): Promise<void> {
  const wanted = definitions.flatMap((definition) =>
    collectionsOf(definition).map((collection) => ({ collection, what: `crds: ${nameOf(definition)}` })),
  );
  await Promise.all(
    servers.flatMap(({ destination }) =>
      wanted.map(({ collection, what }) =>
        untilTrue(what, async () => {
          const { status } = await askServer(destination, 'GET', `${collection}?limit=1`, { itself: true });
          return isRight(status);
        }),
      ),
    ),
  );
}

/** Of a server that does not serve a resource and may not ask another one. */
const GONE = [404, 503];

/** Resolves when no server serves the resources of these definitions any more. */
export async function untilGone(servers: readonly AskedServer[], definitions: readonly JsonObject[]): Promise<void> {
  await eachCollection(servers, definitions, (status) => GONE.includes(status));
}

export function isDefinition(object: JsonObject): boolean {
  return object['apiVersion'] === API_VERSION && object['kind'] === KIND;
}

function collectionsOf(definition: JsonObject): string[] {
  const spec = objectMember(definition, 'spec');
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isObject) : [];
  return versions
    .filter(({ served }) => served === true)
    .map(
      (version) =>
        `${apiPath(text(spec, 'group'), text(version, 'name'))}/${text(objectMember(spec, 'names'), 'plural')}`,
    );
}

function isManifest(source: string): boolean {
  return source.includes('\n') || /^\s*(?:\{|apiVersion:)/.test(source);
}

function fromPath(path: string): JsonObject[] {
  if (!existsSync(path)) throw new Error(`crds: there is no file or folder ${path}.`);
  if (!statSync(path).isDirectory()) return manifest(`crds: ${path}`, readFileSync(path, 'utf8'));
  const files = readdirSync(path).filter((name) => FILE_NAME.test(name));
  const found = files
    .sort()
    .flatMap((name) => documents(`crds: ${join(path, name)}`, readFileSync(join(path, name), 'utf8')));
  const definitions = found.filter(isDefinition);
  if (definitions.length === 0) throw new Error(`crds: there is no ${KIND} of ${API_VERSION} in ${path}.`);
  return definitions;
}

function manifest(where: string, content: string): JsonObject[] {
  return documents(where, content).map((each) => checked(where, each));
}

function documents(where: string, content: string): JsonObject[] {
  let parsed: unknown[];
  try {
    parsed = loadAll(content) as unknown[];
  } catch (error) {
    throw new Error(`${where}: this is no YAML: ${(error as Error).message.split('\n', 1)[0]}.`);
  }
  return parsed.filter(isObject).flatMap((each) => {
    const isList = text(each, 'kind').endsWith('List') && Array.isArray(each['items']);
    return isList ? (each['items'] as unknown[]).filter(isObject) : [each];
  });
}

function checked(where: string, object: JsonObject): JsonObject {
  if (isDefinition(object)) return object;
  const found = `${text(object, 'kind') || 'object without a kind'} of ${text(object, 'apiVersion') || 'no apiVersion'}`;
  throw new Error(`${where}: there is a ${found}; only a ${KIND} of ${API_VERSION} belongs here.`);
}
