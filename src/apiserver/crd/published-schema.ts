import type { JsonObject } from '../../kube/json.js';
import { readDefinition } from './definition.js';

/**
 * The schema of a version as it is published: what its definition says, and which fields can be selected by. What goes
 * for all custom resources (`metadata` and the like) is added by whoever makes a document of it.
 */
export function openApiSchemaOf(crd: JsonObject, version: string): JsonObject | undefined {
  const found = readDefinition(crd).versions.find(({ name }) => name === version);
  if (found?.openApi === undefined) return undefined;
  const paths = found.selectablePaths.map((path) => ({ fieldPath: path.replace(/^\./, '') }));
  return paths.length === 0 ? found.openApi : { ...found.openApi, 'x-kubernetes-selectable-fields': paths };
}
