import type { KindReference, ResourceDiscovery } from '../../kube/discovery.js';
import {
  documentKind,
  parseAggregated,
  parseDiscoveryJson,
  parseResourceList,
} from '../../kube/discovery-documents.js';

const NO_KIND: KindReference = { group: '', version: '', kind: '' };

/**
 * Parses an aggregated document (v2 or v2beta1): resources by `group/version`. Returns undefined
 * for any other document, which a server without aggregated discovery may return. Throws
 * DiscoveryDocumentError.
 */
export function readAggregatedDocument(text: string, path: string): Map<string, ResourceDiscovery[]> | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (documentKind(document) !== 'APIGroupDiscoveryList') return undefined;
  const found = new Map<string, ResourceDiscovery[]>();
  for (const { metadata, versions = [] } of parseAggregated(document, path)) {
    for (const { version, resources = [] } of versions) {
      found.set(`${metadata.name ?? ''}/${version}`, resources.map(asWritten));
    }
  }
  return found;
}

/** Parses a legacy list. Throws DiscoveryDocumentError. */
export function readLegacyDocument(text: string, path: string): ResourceDiscovery[] {
  // kube-apiserver leaves group and version of a kind empty if the list has none.
  const resources = parseResourceList(parseDiscoveryJson(text, path), path, { group: '', version: '' });
  // A parent that is not in the list has a name only, and no scope.
  return resources.map((resource) => (resource.scope ? asWritten(resource) : withKinds(resource)));
}

/** Adds the fields that kube-apiserver always writes, in its order. */
function asWritten(resource: ResourceDiscovery): ResourceDiscovery {
  const {
    resource: name,
    responseKind,
    scope = 'Cluster',
    singularResource = '',
    verbs,
    ...more
  } = withKinds(resource);
  return {
    resource: name,
    ...(responseKind ? { responseKind } : {}),
    scope,
    singularResource,
    verbs: verbs ?? [],
    ...more,
  };
}

/** Adds empty kinds: old clients of Kubernetes crash without them. */
function withKinds({ resource, subresources, ...more }: ResourceDiscovery): ResourceDiscovery {
  return {
    resource,
    responseKind: NO_KIND,
    ...more,
    ...(subresources
      ? {
          subresources: subresources.map(({ subresource, ...rest }) => ({
            subresource,
            responseKind: NO_KIND,
            ...rest,
          })),
        }
      : {}),
  };
}
