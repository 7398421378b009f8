import type { JsonObject } from '../../kube/json.js';

/** Sets defaults of one type, in place. It is called before the members of the object have their defaults. */
export type TypeDefaults = (object: JsonObject, surface: SurfaceTraits) => void;

/** The Kubernetes version of a surface, for rules that differ between versions. */
export interface SurfaceTraits {
  /** The minor version: 36 for 1.36. */
  readonly minor: number;
}

/** By the name of the type in OpenAPI. */
export type TypeDefaultsTable = Readonly<Record<string, TypeDefaults>>;
