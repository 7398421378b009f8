import type { JsonObject } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import type { SelectableFields } from '../select/field-selector-kinds.js';
import type { TablePrinter } from '../table/table.js';
import type { Strategy } from './strategy.js';

/** One resource in one version, as this server serves it. Immutable; a changed definition makes a new one. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: ReadonlySet<string>;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly origin: 'built-in' | 'custom';
  readonly schema: Schema;
  readonly strategy: Strategy;
  readonly printer: TablePrinter;
  readonly selectable: SelectableFields;
  readonly storage: StorageLayout;
  readonly conversion: Conversion;
  /** A `Warning` for every request, where the version is deprecated. */
  readonly deprecationWarning?: string;
}

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly kindGroup: string;
  readonly kindVersion: string;
  readonly verbs: ReadonlySet<string>;
  /** Custom resources: where a scale finds its numbers. */
  readonly scalePaths?: ScalePaths;
}

/** Dotted paths without a leading dot. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string | undefined;
}

/** Where objects of a resource lie, the same for all its versions. */
export interface StorageLayout {
  /** `/registry/pods/`, `/registry/apps.example.test/widgets/`; then `<namespace>/<name>` or `<name>`. */
  readonly prefix: string;
  /** The `apiVersion` that this server writes. */
  readonly apiVersion: string;
  /** Objects go by themselves after this long (events). */
  readonly ttlSeconds?: number;
}

/** From the version something is stored in to the one it is served in, and back. */
export interface Conversion {
  /** True where both ways only exchange `apiVersion`: nothing is asked of anyone. */
  readonly isTrivial: boolean;
  /** Objects in whatever versions they are stored; results are in this type's version, in the same order. */
  toServed(objects: readonly JsonObject[]): Promise<JsonObject[]>;
  toStored(objects: readonly JsonObject[]): Promise<JsonObject[]>;
}
