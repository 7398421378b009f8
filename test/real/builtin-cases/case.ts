import type { Json, JsonObject } from '../../../src/kube/json.js';

/** Requests about one object, made one after the other. */
export interface BuiltInCase {
  readonly name: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for what has none. */
  readonly namespace: string;
  readonly steps: readonly BuiltInStep[];
}

export interface BuiltInStep {
  readonly verb: 'create' | 'update' | 'merge';
  readonly subresource?: string;
  readonly body: JsonObject;
}

/** `apps/v1/deployments`, `v1/pods`, with a namespace unless `cluster` is said. */
export function kind(
  path: string,
  identity: { apiVersion: string; kind: string },
  scope: 'namespaced' | 'cluster' = 'namespaced',
): (name: string, body: JsonObject, ...more: BuiltInStep[]) => BuiltInCase {
  const parts = path.split('/');
  const [group, version, resource] = parts.length === 3 ? parts : ['', ...parts];
  return (name, body, ...more) => ({
    name: `${resource}: ${name}`,
    group: group!,
    version: version!,
    resource: resource!,
    namespace: scope === 'cluster' ? '' : namespaceOf(body),
    steps: [{ verb: 'create', body: { ...identity, ...named(body, name) } }, ...more],
  });
}

function namespaceOf(body: JsonObject): string {
  return String((body['metadata'] as JsonObject | undefined)?.['namespace'] ?? 'default');
}

/** Objects are named for their case unless they say otherwise. */
function named(body: JsonObject, name: string): JsonObject {
  const metadata = (body['metadata'] ?? {}) as JsonObject;
  const fallback = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return { ...body, metadata: { name: fallback, ...metadata } };
}

export const merge = (body: JsonObject, subresource?: string): BuiltInStep => ({
  verb: 'merge',
  body,
  ...(subresource === undefined ? {} : { subresource }),
});
export const update = (body: JsonObject, subresource?: string): BuiltInStep => ({
  verb: 'update',
  body,
  ...(subresource === undefined ? {} : { subresource }),
});

export const spec = (value: Json, metadata: JsonObject = {}): JsonObject => ({ spec: value, metadata });
