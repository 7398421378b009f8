import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import type { ContentReport } from './namespace-content.js';

/** Makes the conditions of a namespace that is being deleted, as in Kubernetes. */
export function namespaceConditions(before: Json | undefined, report: ContentReport, now: string): JsonObject[] {
  const wanted = [
    condition('NamespaceDeletionDiscoveryFailure', report.discoveryFailures, {
      failed: { reason: 'DiscoveryFailed', message: (all) => `Discovery failed for some groups, ${list(all)}` },
      fine: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    }),
    condition('NamespaceDeletionGroupVersionParsingFailure', [], {
      failed: { reason: 'GroupVersionParsingFailed', message: list },
      fine: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    }),
    condition('NamespaceDeletionContentFailure', report.contentFailures, {
      failed: {
        reason: 'ContentDeletionFailed',
        message: (all) => `Failed to delete all resource types, ${list(all)}`,
      },
      fine: {
        reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization',
      },
    }),
    condition('NamespaceContentRemaining', remainingSentences(report), {
      failed: { reason: 'SomeResourcesRemain', message: (all) => `Some resources are remaining: ${all.join(', ')}` },
      fine: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    }),
    condition('NamespaceFinalizersRemaining', finalizerSentences(report), {
      failed: {
        reason: 'SomeFinalizersRemain',
        message: (all) => `Some content in the namespace has finalizers remaining: ${all.join(', ')}`,
      },
      fine: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    }),
  ];
  const known = Array.isArray(before) ? before.filter(isObject) : [];
  const wantedTypes = new Set(wanted.map(({ type }) => type));
  return [
    ...known.filter(({ type }) => !wantedTypes.has(String(type))),
    ...wanted.map((each) => {
      const same = known.find(({ type }) => type === each.type);
      const since = same?.['status'] === each.status ? same['lastTransitionTime'] : undefined;
      return { ...each, lastTransitionTime: since ?? now };
    }),
  ];
}

interface Words {
  readonly failed: { readonly reason: string; message(all: readonly string[]): string };
  readonly fine: { readonly reason: string; readonly message: string };
}

function condition(type: string, problems: readonly string[], { failed, fine }: Words) {
  return problems.length > 0
    ? { type, status: 'True', reason: failed.reason, message: failed.message(problems).slice(0, MESSAGE_CHARS_MAX) }
    : { type, status: 'False', reason: fine.reason, message: fine.message };
}

/** Bound on a message, below that of the API. */
const MESSAGE_CHARS_MAX = 4_096;

function list(all: readonly string[]): string {
  return `${all.length} error${all.length === 1 ? '' : 's'}: ${all.join('; ')}`;
}

function remainingSentences({ remaining }: ContentReport): string[] {
  return [...remaining].sort().map(([resource, count]) => `${resource} has ${count} resource instances`);
}

function finalizerSentences({ finalizers }: ContentReport): string[] {
  return [...finalizers].sort().map(([name, count]) => `${name} in ${count} resource instances`);
}
