import type { Json } from '../../kube/json.js';

/**
 * The file format of the surface of one Kubernetes version: names, types, verbs and keys, without prose.
 * Files are independent of each other, so a surface can be captured from any cluster.
 */
export interface SurfaceFile {
  readonly format: typeof SURFACE_FORMAT;
  /** `v1.36.4`: the server it was captured from. */
  readonly capturedFrom: string;
  /** `1.36`. */
  readonly version: string;
  readonly groups: readonly SurfaceGroup[];
  /** By OpenAPI name: `io.k8s.api.core.v1.Pod`. */
  readonly types: Readonly<Record<string, TypeNode>>;
}

export const SURFACE_FORMAT = 1;

export interface SurfaceGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** In the order of preference. */
  readonly versions: readonly SurfaceVersion[];
}

export interface SurfaceVersion {
  readonly version: string;
  /** Served only when `--runtime-config` says so. */
  readonly offByDefault?: true;
  readonly resources: readonly SurfaceResource[];
}

export interface SurfaceResource {
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  /** Group and version of the kind, if they differ from those of the resource. */
  readonly kindGroup?: string;
  readonly kindVersion?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly SurfaceSubresource[];
  /** The version is on by default, this resource is not. */
  readonly offByDefault?: true;
}

export interface SurfaceSubresource {
  readonly name: string;
  readonly kind: string;
  readonly kindGroup?: string;
  readonly kindVersion?: string;
  readonly verbs: readonly string[];
}

/**
 * A type, as text where text is enough:
 * `any`, `object`, `string`, `integer/int32`, `#<name>` (another type), `[]<type>` (a list), `{}<type>` (a map).
 */
export type TypeNode = string | TypeObject;

export interface TypeObject {
  /** The text form of what the rest adds to; absent where `fields` makes it an object. */
  readonly is?: string;
  readonly fields?: Readonly<Record<string, TypeNode>>;
  readonly items?: TypeNode;
  readonly values?: TypeNode;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly preserveUnknownFields?: true;
  readonly embeddedResource?: true;
  /** The kinds this type is, as `group/version/Kind`. */
  readonly kinds?: readonly string[];
}
