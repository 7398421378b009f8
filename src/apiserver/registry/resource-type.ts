import type { JsonObject } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import type { SelectableFields } from '../select/field-selector-kinds.js';
import type { TablePrinter } from '../table/table.js';
import type { Strategy } from './strategy.js';

/** A resource in one version, as discovery shows it. */
export interface DiscoveredResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: ReadonlySet<string>;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: ReadonlyMap<string, Subresource>;
}

/** A stored resource in one version. Immutable; a changed CustomResourceDefinition makes a new one. */
export interface ResourceType extends DiscoveredResource {
  readonly listKind: string;
  readonly origin: 'built-in' | 'custom';
  readonly schema: Schema;
  readonly strategy: Strategy;
  readonly printer: TablePrinter;
  readonly selectable: SelectableFields;
  readonly storage: StorageLayout;
  readonly conversion: Conversion;
  /** The `Warning` header of every reply if the version is deprecated. */
  readonly deprecationWarning?: string;
}

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly kindGroup: string;
  readonly kindVersion: string;
  readonly verbs: ReadonlySet<string>;
  /** Custom resources only: the paths of the values of a Scale. */
  readonly scalePaths?: ScalePaths;
}

/** Dotted paths without a leading dot. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

/** Keys and version of the stored objects of a resource, equal for all its versions. */
export interface StorageLayout {
  /** `/registry/pods/`, `/registry/apps.example.test/widgets/`; then `<namespace>/<name>` or `<name>`. */
  readonly prefix: string;
  /** The `apiVersion` that this server writes. */
  readonly apiVersion: string;
  /** Time to live of the objects (events). */
  readonly ttlSeconds?: number;
}

/** Conversion between stored versions and the served version. */
export interface Conversion {
  /** True if both directions only change `apiVersion`, without a call to a webhook. */
  readonly isTrivial: boolean;
  /** Converts objects of any stored version to the served version, in the same order. */
  toServed(objects: readonly JsonObject[]): Promise<JsonObject[]>;
  toStored(objects: readonly JsonObject[]): Promise<JsonObject[]>;
}
