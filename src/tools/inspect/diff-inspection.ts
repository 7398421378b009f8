import { apiServerId } from '../../apiserver/storage-versions/api-server-id.js';
import { isObject, type Json } from '../../kube/json.js';
import { Asker, NoAnswer } from './ask.js';
import { type DiffReport, diffReport } from './diff-report.js';
import { eachBounded } from './each-bounded.js';
import { findServers, type InspectOptions } from './inspection.js';
import type { ListedServer } from './servers.js';
import { type StoredProblem, undecodable, unservedStored } from './stored-versions.js';
import { type InspectedSurface, readServerSurface, type SilentServer } from './surfaces.js';

const SERVERS_AT_ONCE_MAX = 8;
const STORAGE_VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Reads what each server serves, and in what versions objects are stored. */
export async function inspectDiff(options: InspectOptions, all: boolean): Promise<DiffReport> {
  const { facts, servers } = await findServers(options);
  const read = await eachBounded(servers, SERVERS_AT_ONCE_MAX, (server) => readServerSurface(server, options));
  const surfaces = read.filter((each): each is InspectedSurface => 'local' in each);
  const silent = read.filter((each): each is SilentServer => 'why' in each);
  if (surfaces.length === 0) {
    throw new Error(
      `No server could be asked what it serves: ${silent.map(({ name, why }) => `${name} (${why})`).join('; ')}.`,
    );
  }
  const notes = [...facts.notes];
  const stored = await readStored(options, { servers, surfaces, notes });
  return diffReport({ servers: surfaces, silent, stored, notes, all });
}

interface StoreInput {
  readonly servers: readonly ListedServer[];
  readonly surfaces: readonly InspectedSurface[];
  readonly notes: string[];
}

async function readStored(options: InspectOptions, { servers, surfaces, notes }: StoreInput): Promise<StoredProblem[]> {
  const { url, serverName, credentials, nowMs } = options;
  const door = new Asker({ url, serverName, credentials, nowMs });
  const known = surfaces.map(({ name, local }) => ({
    name,
    surface: local,
    apiServerIds: [
      apiServerId(name),
      ...(servers.find((each) => each.name === name)?.leases ?? []).map((lease) => lease.name),
    ],
  }));
  try {
    const [storageVersions, definitions] = await Promise.all([
      itemsAt(door, STORAGE_VERSIONS, notes),
      itemsAt(door, DEFINITIONS, notes),
    ]);
    if (storageVersions === undefined) {
      notes.push('no server serves storageversions, so only custom resources were compared with the store');
    }
    return [...undecodable(storageVersions ?? [], known), ...unservedStored(definitions ?? [], known)];
  } finally {
    door.close();
  }
}

/** Undefined where it is not served. */
async function itemsAt(door: Asker, path: string, notes: string[]): Promise<Json[] | undefined> {
  const resource = path.split('/').slice(-1)[0];
  const group = path.split('/')[2];
  try {
    const { status, text } = await door.get(path);
    if (status === 404) return undefined;
    if (status === 200) {
      const body: unknown = JSON.parse(text);
      const items = isObject(body) ? body['items'] : undefined;
      return Array.isArray(items) ? items : [];
    }
    notes.push(
      status === 403
        ? `not allowed to list ${resource}.${group}`
        : `${resource}.${group} could not be listed (${status})`,
    );
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    notes.push(`${resource}.${group} could not be listed: ${error.message}`);
  }
  return [];
}
