import type { JsonObject } from '../../kube/json.js';

/** The file format of the descriptions of one Kubernetes version: the prose that surfaces leave out. */
export interface DescriptionsFile extends DescriptionTables {
  readonly descriptionsFormat: typeof DESCRIPTIONS_FORMAT;
  /** `v1.36.4`: the server it was captured from. */
  readonly capturedFrom: string;
  /** `1.36`. */
  readonly version: string;
}

export const DESCRIPTIONS_FORMAT = 1;

/** Texts by name. */
export type Texts = Readonly<Record<string, string>>;

export interface TypeTexts {
  /** About the type itself. */
  readonly text?: string;
  /** By the name of the field. */
  readonly fields?: Texts;
}

/** Stands for the kind in the names of parameters whose text is another one in a patch. */
export const PATCH_SCOPE = 'patch';

/** Returns the name of a parameter in the table: that of a path is in braces, because a query may have one of the same name. */
export function parameterName(parameter: JsonObject): string {
  const name = String(parameter['name']);
  return parameter['in'] === 'path' ? `{${name}}` : name;
}

/** The tables that captured descriptions and Straddle's own have in common. */
export interface DescriptionTables {
  /** Members of the objects of all kinds: `apiVersion`, `kind`, `metadata`. */
  readonly objects: Texts;
  /** Members of the lists of all kinds. */
  readonly lists: Texts;
  /**
   * Parameters of requests: `limit` of a query, `{name}` of a path; with the kind before it (`Pod.{name}`) where the text of
   * that kind differs, or `patch.` where that of patches does.
   */
  readonly parameters: Texts;
  /** By OpenAPI name: `io.k8s.api.core.v1.Pod`. */
  readonly types: Readonly<Record<string, TypeTexts>>;
}
