import type { KindReference, ResourceDiscovery } from '../../kube/discovery.js';
import {
  documentKind,
  parseAggregated,
  parseDiscoveryJson,
  parseResourceList,
} from '../../kube/discovery-documents.js';

const NO_KIND: KindReference = { group: '', version: '', kind: '' };

/**
 * The resources of each group-version in an aggregated document (v2 or v2beta1), by `group/version`; undefined for
 * anything else that a server without aggregated discovery may answer. Throws DiscoveryDocumentError.
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

/** The resources of a legacy list. Throws DiscoveryDocumentError. */
export function readLegacyDocument(text: string, path: string): ResourceDiscovery[] {
  // Where the list has neither group nor version of a kind, kube-apiserver shows them empty.
  const resources = parseResourceList(parseDiscoveryJson(text, path), path, { group: '', version: '' });
  // A parent that the list does not have is a name only, and has no scope.
  return resources.map((resource) => (resource.scope ? asWritten(resource) : withKinds(resource)));
}

/** A resource with the fields that kube-apiserver always writes, in its order. */
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

/** Old clients of Kubernetes crash on a resource without a kind. */
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
