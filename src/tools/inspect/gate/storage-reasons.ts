import { apiServerId } from '../../../apiserver/storage-versions/api-server-id.js';
import { someNames } from '../../../base/some-names.js';
import { isObject, type Json, type JsonObject, objectMember } from '../../../kube/json.js';
import type { ListedServer } from '../servers.js';
import { undecodable } from '../stored-versions.js';
import type { InspectedSurface } from '../surfaces.js';
import type { ListReading } from './bounded-list.js';
import { askForRight, closed, type GateReason, unknown } from './gate-reason.js';

export const MIGRATIONS = { group: 'storagemigration.k8s.io', resource: 'storageversionmigrations' } as const;
export const STORAGE_VERSIONS = { group: 'internal.apiserver.k8s.io', resource: 'storageversions' } as const;

/** Judges StorageVersionMigration objects: while one runs, a server that stores in another version works against it. */
export function migrationReasons(reading: ListReading): GateReason[] {
  if (reading.state === 'absent') return [];
  if (reading.state === 'refused') return [notListed('migration', MIGRATIONS, reading)];
  const running = reading.items.filter((each) => !isOver(each));
  if (running.length > 0) {
    const names = running.map(nameOf);
    return [
      closed('migration', {
        detail: `${running.length === 1 ? 'a storage migration is' : `${running.length} storage migrations are`} in progress: ${someNames(running.map((each) => `${nameOf(each)} (${resourceOf(each)})`))}`,
        resources: running.map(resourceOf),
        next: `Wait until ${running.length === 1 ? 'it has' : 'they have'} succeeded or failed: kubectl get ${MIGRATIONS.resource}.${MIGRATIONS.group} ${names.slice(0, 3).join(' ')}.`,
      }),
    ];
  }
  if (reading.isComplete) return [];
  const detail = `more than ${reading.items.length} StorageVersionMigration objects: not all were looked at`;
  return [unknown('migration', { detail, next: 'Delete those that are over.' })];
}

/** Returns migrations that have failed, as notes: nothing runs, but objects may be in a former version. */
export function migrationNotes(reading: ListReading): string[] {
  if (reading.state !== 'read') return [];
  const failed = reading.items.filter((each) => hasCondition(each, 'Failed')).map(nameOf);
  return failed.length > 0 ? [`storage migrations that failed: ${someNames(failed)}`] : [];
}

function isOver(migration: JsonObject): boolean {
  return hasCondition(migration, 'Succeeded') || hasCondition(migration, 'Failed');
}

function hasCondition(object: JsonObject, type: string): boolean {
  const conditions = objectMember(object, 'status')['conditions'];
  const all = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return all.some((each) => each['type'] === type && each['status'] === 'True');
}

function nameOf(object: JsonObject): string {
  return text(objectMember(object, 'metadata')['name']);
}

function resourceOf(migration: JsonObject): string {
  const { group, resource } = objectMember(objectMember(migration, 'spec'), 'resource');
  return text(group) === '' ? text(resource) : `${text(resource)}.${text(group)}`;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export interface StorageVersionFacts {
  readonly reading: ListReading;
  readonly servers: readonly ListedServer[];
  readonly surfaces: readonly InspectedSurface[];
}

/**
 * Finds versions in which one live server stores and that another cannot decode. Versions that only differ are no reason: in the
 * middle of an upgrade they do, until the last server is replaced.
 */
export function storedVersionReasons({ reading, servers, surfaces }: StorageVersionFacts): GateReason[] {
  if (reading.state === 'absent') return [];
  if (reading.state === 'refused') return [notListed('stored-versions', STORAGE_VERSIONS, reading)];
  const known = surfaces.map(({ name, local }) => ({
    name,
    surface: local,
    apiServerIds: [
      apiServerId(name),
      ...(servers.find((each) => each.name === name)?.leases ?? []).map((lease) => lease.name),
    ],
  }));
  const names = new Set(known.map(({ name }) => name));
  // Entries of servers that are gone stay for a while.
  const found = undecodable([...reading.items], known).flatMap(({ resource, storedIn, servers: unable }) => {
    const live = unable.filter((name) => names.has(name));
    if (live.length === 0) return [];
    return closed('stored-versions', {
      detail: `${resource} is stored in ${storedIn}, which ${someNames(live)} cannot decode`,
      servers: live,
      resources: [resource],
      next: `Bring ${someNames(live)} to a version that knows ${storedIn}, or have the others store in one that all know.`,
    });
  });
  if (reading.isComplete) return found;
  const detail = `only ${reading.items.length} StorageVersion objects could be read: there are more`;
  return [
    ...found,
    unknown('stored-versions', { detail, next: 'Try again; `straddle status` shows how the servers are.' }),
  ];
}

function notListed(
  id: 'migration' | 'stored-versions',
  { group, resource }: { readonly group: string; readonly resource: string },
  { why, isForbidden }: { readonly why: string; readonly isForbidden: boolean },
): GateReason {
  const what = `${resource}.${group}`;
  return unknown(id, {
    detail: isForbidden ? `not allowed to list ${what}` : `${what} could not be listed: ${why}`,
    resources: [what],
    next: isForbidden ? askForRight(`list ${what}`) : 'Try again; `straddle status` shows how the servers are.',
  });
}
