import { readFileSync } from 'node:fs';
import { text } from '../../kube/fields.js';
import type { JsonObject } from '../../kube/json.js';

/** In the order in which they can be created. */
export const DEFAULT_RBAC_RESOURCES = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;
type DefaultRbacResource = (typeof DEFAULT_RBAC_RESOURCES)[number];

/** The roles and bindings that a kube-apiserver makes for itself, without what is the same on every one. */
export type DefaultEntries = Readonly<Record<DefaultRbacResource, readonly JsonObject[]>>;

/** Entries of one version that the base lacks or has otherwise, and those of the base that the version lacks. */
export interface EntryDifferences {
  /** The release, such as `v1.37.1`. */
  readonly from: string;
  readonly present: Partial<DefaultEntries>;
  readonly absent: Partial<Readonly<Record<DefaultRbacResource, readonly string[]>>>;
}

/** One version whole, the base, and of every other recorded one what differs. */
export interface DefaultRolesFile extends DefaultEntries {
  /** The release of the base, such as `v1.36.4`. */
  readonly from: string;
  /** By version: `1.37`. */
  readonly versions: Readonly<Record<string, EntryDifferences>>;
}

/** Written by test/real/record-default-roles.ts. */
export const DEFAULT_ROLES_FILE = new URL('./data/default-roles.json', import.meta.url);

export function readDefaultRoles(): DefaultRolesFile {
  return JSON.parse(readFileSync(DEFAULT_ROLES_FILE, 'utf8')) as DefaultRolesFile;
}

/** Minor versions of which something is recorded, oldest first: 36 for 1.36. */
export function recordedMinors({ from, versions }: DefaultRolesFile): number[] {
  return [from.slice(1), ...Object.keys(versions)].map(minorOf).sort((left, right) => left - right);
}

/** The entries of a minor version; where none are recorded, of the newest one before it, else of the oldest. */
export function defaultEntries(file: DefaultRolesFile, minor: number): DefaultEntries {
  const minors = recordedMinors(file);
  const known = minors.findLast((each) => each <= minor) ?? minors[0]!;
  const differences = file.versions[`1.${known}`];
  return differences === undefined ? file : withDifferences(file, differences);
}

/** `namespace/name`; without a namespace `/name`. */
export function entryKey(entry: JsonObject): string {
  return `${text(entry, 'namespace')}/${text(entry, 'name')}`;
}

function withDifferences(base: DefaultEntries, { present, absent }: EntryDifferences): DefaultEntries {
  const lists = DEFAULT_RBAC_RESOURCES.map((resource) => {
    const entries = new Map(base[resource].map((each) => [entryKey(each), each]));
    for (const each of present[resource] ?? []) entries.set(entryKey(each), each);
    for (const key of absent[resource] ?? []) entries.delete(key);
    return [resource, [...entries.values()]];
  });
  return Object.fromEntries(lists) as DefaultEntries;
}

function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}
