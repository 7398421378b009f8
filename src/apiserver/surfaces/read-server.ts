import { AGGREGATED_V2, AGGREGATED_V2BETA1, NO_PEER_VIEW } from '../../kube/accept.js';
import type { GroupDiscovery } from '../../kube/discovery.js';
import { DiscoveryDocumentError, documentKind, parseAggregated } from '../../kube/discovery-documents.js';
import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import type { AggregatedDocuments } from './convert-discovery.js';
import type { ServerDocuments } from './convert-surface.js';

/** The view of the server without its peers, in the newest form that it has. */
const AGGREGATED_ACCEPT = [NO_PEER_VIEW, AGGREGATED_V2, AGGREGATED_V2BETA1].join(',');
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
/** kube-apiserver's mark on APIServices it made itself: `onstart` for what is built in, `true` for custom resources. */
const MADE_BY_SERVER = 'kube-aggregator.kubernetes.io/automanaged';

export interface ServerReader {
  /** The JSON body of a GET that was answered with 200; rejects otherwise. */
  get(path: string, accept: string): Promise<Json>;
  /** One line about what is done next, or about what could not be. */
  progress?(line: string): void;
  /** False: types are not wanted, only what is served. */
  readonly withOpenApi?: boolean;
}

export class SurfaceCaptureError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SurfaceCaptureError';
  }
}

/** Everything of a running server that a surface is made of. Custom resources and aggregated APIs are left out. */
export async function readServer(reader: ServerReader): Promise<ServerDocuments> {
  const { gitVersion, version } = await readVersion(reader);
  reader.progress?.(`reading discovery of ${gitVersion}`);
  const served: AggregatedDocuments = {
    core: await readDiscovery(reader, '/api'),
    groups: await readDiscovery(reader, '/apis'),
  };
  const foreign = await readForeign(reader);
  return {
    gitVersion,
    version,
    discovery: { core: served.core, groups: builtInOnly(served.groups, foreign) },
    openApi: reader.withOpenApi === false ? [] : await readOpenApi(reader, foreign),
  };
}

async function readVersion(reader: ServerReader): Promise<{ gitVersion: string; version: string }> {
  const document = await reader.get('/version', 'application/json');
  const { gitVersion, major, minor, emulationMajor, emulationMinor } = isObject(document) ? document : {};
  // Providers write `36+`.
  const number = (value: Json | undefined): string => /^\d+/.exec(String(value ?? ''))?.[0] ?? '';
  const version = `${number(emulationMajor ?? major)}.${number(emulationMinor ?? minor)}`;
  if (typeof gitVersion !== 'string' || !/^\d+\.\d+$/.test(version)) {
    throw new SurfaceCaptureError('/version does not tell a Kubernetes version: is this a kube-apiserver?');
  }
  return { gitVersion, version };
}

async function readDiscovery(reader: ServerReader, path: '/api' | '/apis'): Promise<readonly GroupDiscovery[]> {
  const document = await reader.get(path, AGGREGATED_ACCEPT);
  if (documentKind(document) !== 'APIGroupDiscoveryList') {
    throw new SurfaceCaptureError(`${path} has no aggregated discovery, which Kubernetes has by default since 1.27.`);
  }
  try {
    return parseAggregated(document, path);
  } catch (error) {
    throw error instanceof DiscoveryDocumentError ? new SurfaceCaptureError(error.message) : error;
  }
}

/** `group/version` of what is not built in. */
async function readForeign(reader: ServerReader): Promise<ReadonlySet<string>> {
  const list = await reader.get(API_SERVICES, 'application/json').catch(() => undefined);
  const items = isObject(list) ? member(list, 'items') : undefined;
  if (!Array.isArray(items)) {
    reader.progress?.(
      'APIServices cannot be read: custom resources and aggregated APIs cannot be told apart, and stay',
    );
    return new Set();
  }
  const foreign = new Set<string>();
  for (const { metadata, spec } of items.filter(isObject)) {
    if (!isObject(metadata) || !isObject(spec)) continue;
    const labels = member(metadata, 'labels');
    const isCustom = isObject(labels) && member(labels, MADE_BY_SERVER) === 'true';
    if (isCustom || isObject(member(spec, 'service'))) foreign.add(`${spec['group']}/${spec['version']}`);
  }
  if (foreign.size > 0) reader.progress?.(`leaving out ${[...foreign].sort().join(', ')}: not built in`);
  return foreign;
}

function builtInOnly(all: readonly GroupDiscovery[], foreign: ReadonlySet<string>): GroupDiscovery[] {
  const groups = all.map((group) => ({
    ...group,
    versions: (group.versions ?? []).filter(({ version }) => !foreign.has(`${group.metadata.name}/${version}`)),
  }));
  return groups.filter(({ versions }) => versions.length > 0);
}

async function readOpenApi(reader: ServerReader, foreign: ReadonlySet<string>): Promise<JsonObject[]> {
  const index = await reader.get('/openapi/v3', 'application/json');
  const paths = isObject(index) ? member(index, 'paths') : undefined;
  if (!isObject(paths)) {
    throw new SurfaceCaptureError('/openapi/v3 is no index of documents, which Kubernetes has by default since 1.24.');
  }
  const wanted = Object.entries(paths).filter(([path]) => !foreign.has(path.replace(/^apis\//, '')));
  const documents: JsonObject[] = [];
  for (const [path, entry] of wanted) {
    const url = isObject(entry) ? entry['serverRelativeURL'] : undefined;
    if (typeof url !== 'string' || !url.startsWith('/'))
      throw new SurfaceCaptureError(`/openapi/v3 has no URL of ${path}`);
    reader.progress?.(`reading types ${documents.length + 1}/${wanted.length}: ${path}`);
    const document = await reader.get(url, 'application/json');
    if (isObject(document)) documents.push(document);
  }
  return documents;
}
