import type { JsonObject } from '../../kube/json.js';

/** What kube-apiserver fills in by code. Changes its object in place; members are not yet defaulted when it is called. */
export type TypeDefaults = (object: JsonObject, surface: SurfaceTraits) => void;

/** What differs between Kubernetes versions. */
export interface SurfaceTraits {
  /** 36 of 1.36. */
  readonly minor: number;
}

/** By the name a type has in OpenAPI. */
export type TypeDefaultsTable = Readonly<Record<string, TypeDefaults>>;
