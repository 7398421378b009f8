import { apiServerId } from '../../apiserver/storage-versions/api-server-id.js';
import { type Json, objectOrEmpty } from '../../kube/json.js';
import { Asker, NoAnswer } from './ask.js';
import { type DiffReport, diffReport } from './diff-report.js';
import { findServers, type InspectOptions } from './inspection.js';
import type { ListedServer } from './servers.js';
import { type StoredProblem, undecodable, unservedStored } from './stored-versions.js';
import { type InspectedSurface, readSurfaces } from './surfaces.js';

const STORAGE_VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Compares the surfaces of all servers, and the versions in which objects are stored. */
export async function inspectDiff(options: InspectOptions, all: boolean): Promise<DiffReport> {
  const { facts, servers } = await findServers(options);
  const { surfaces, silent } = await readSurfaces(servers, options);
  if (surfaces.length === 0) {
    throw new Error(
      `No server could be asked what it serves: ${silent.map(({ name, why }) => `${name} (${why})`).join('; ')}.`,
    );
  }
  const notes = [...facts.notes];
  const stored = await readStored(options, servers, surfaces, notes);
  return diffReport({ servers: surfaces, silent, stored, notes, all });
}

async function readStored(
  options: InspectOptions,
  servers: readonly ListedServer[],
  surfaces: readonly InspectedSurface[],
  notes: string[],
): Promise<StoredProblem[]> {
  const door = new Asker(options);
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

/** Resolves with undefined if no server serves the resource. */
async function itemsAt(door: Asker, path: string, notes: string[]): Promise<Json[] | undefined> {
  const resource = path.split('/').slice(-1)[0];
  const group = path.split('/')[2];
  try {
    const { status, text } = await door.get(path);
    if (status === 404) return undefined;
    if (status === 200) {
      const { items } = objectOrEmpty(JSON.parse(text));
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
