/** A reply, whichever client it came from. */
interface JsonReply {
  json<T>(): T;
}

export interface DiscoveryResource {
  readonly resource: string;
  readonly verbs: string[];
  readonly subresources?: { readonly subresource: string }[];
}

export interface DiscoveryGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: {
    readonly version: string;
    readonly freshness?: string;
    readonly resources: DiscoveryResource[];
  }[];
}

/** `group/version/resource` of everything in an aggregated discovery document. */
export function resourcesOf(answer: JsonReply): string[] {
  return answer
    .json<{ items: DiscoveryGroup[] }>()
    .items.flatMap(({ metadata, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map(({ resource }) => `${metadata.name ?? ''}/${version}/${resource}`),
      ),
    );
}

/** `group/version` of everything in an aggregated discovery document. */
export function versionsOf(answer: JsonReply): string[] {
  return answer
    .json<{ items: DiscoveryGroup[] }>()
    .items.flatMap(({ metadata, versions }) => versions.map(({ version }) => `${metadata.name ?? ''}/${version}`));
}

/** A definition of a namespaced resource that accepts any content. */
export function definitionOf(group: string, plural: string, kind: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
