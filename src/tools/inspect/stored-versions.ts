import { isObject, type Json, objectMember } from '../../kube/json.js';
import type { Surface } from '../../kube/surface.js';

/** Objects that may be stored in a version that a server cannot decode or serve. */
export interface StoredProblem {
  /** `widgets.example.com`. */
  readonly resource: string;
  /** `example.com/v1alpha1`. */
  readonly storedIn: string;
  /** Servers that cannot serve or decode it. */
  readonly servers: readonly string[];
  readonly why: string;
}

export interface ServerOfStore {
  readonly name: string;
  /** Its IDs in StorageVersion objects: names of its identity leases. */
  readonly apiServerIds: readonly string[];
  readonly surface: Surface;
}

/** Finds encoding versions in StorageVersion objects that some server cannot decode. */
export function undecodable(items: readonly Json[], servers: readonly ServerOfStore[]): StoredProblem[] {
  return items.filter(isObject).flatMap((item): StoredProblem[] => {
    const resource = resourceOfStorageVersion(text(objectMember(item, 'metadata')['name']));
    const perServer = list(objectMember(item, 'status')['storageVersions']).filter(isObject);
    const encodings = [...new Set(perServer.map((each) => text(each['encodingVersion'])))].filter(
      (each) => each !== '',
    );
    return encodings.flatMap((storedIn): StoredProblem[] => {
      const unable = perServer.filter((each) => !list(each['decodableVersions']).includes(storedIn));
      if (unable.length === 0) return [];
      const names = unable.map((each) => serverNamed(text(each['apiServerID']), servers));
      return [
        { resource, storedIn, servers: names, why: 'another server stores in this version, which it cannot decode' },
      ];
    });
  });
}

/** Parses the name of a StorageVersion, `<group>.<resource>`; the core group is `core`. */
function resourceOfStorageVersion(name: string): string {
  const dot = name.lastIndexOf('.');
  const group = name.slice(0, Math.max(dot, 0));
  const resource = name.slice(dot + 1);
  return group === '' || group === 'core' ? resource : `${resource}.${group}`;
}

function serverNamed(id: string, servers: readonly ServerOfStore[]): string {
  return servers.find(({ apiServerIds }) => apiServerIds.includes(id))?.name ?? id;
}

/** Finds problems in CustomResourceDefinitions: stored versions that no server serves. */
export function unservedStored(items: readonly Json[], servers: readonly ServerOfStore[]): StoredProblem[] {
  return items.filter(isObject).flatMap((item) => {
    const spec = objectMember(item, 'spec');
    const group = text(spec['group']);
    const plural = text(objectMember(spec, 'names')['plural']);
    const versions = list(spec['versions']).filter(isObject);
    return list(objectMember(item, 'status')['storedVersions']).flatMap((stored): StoredProblem[] => {
      const problem = { resource: `${plural}.${group}`, storedIn: `${group}/${text(stored)}` };
      const defined = versions.find(({ name }) => name === stored);
      if (!defined) {
        const why = 'the definition no longer has this version, so objects stored in it cannot be read by anyone';
        return [{ ...problem, servers: servers.map(({ name }) => name), why }];
      }
      // Servers that serve the resource convert between all versions of the definition.
      const unable = servers.filter(({ surface }) =>
        versions.every(
          ({ name, served }) => served !== true || !surface.resources.has(`${group}/${text(name)}/${plural}`),
        ),
      );
      if (unable.length === 0) return [];
      const why = 'it serves this resource in no version';
      return [{ ...problem, servers: unable.map(({ name }) => name), why }];
    });
  });
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
