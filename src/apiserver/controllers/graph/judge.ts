import type { Logger } from '../../../base/logger.js';
import type { Metrics } from '../../../base/metric-catalogue.js';
import { type ApiClient, NotYet } from '../../../kube/client/api-client.js';
import { text, texts } from '../../../kube/fields.js';
import { isObject, type Json } from '../../../kube/json.js';
import type { CatalogueReader } from '../resource-catalogue.js';
import type { GoneObjects } from './gone-objects.js';
import { type LiveObject, readLive } from './live-object.js';
import type { ObjectGraph } from './object-graph.js';
import { lookUpOwner, type OwnerState } from './owner-lookup.js';
import {
  FOREGROUND_FINALIZER,
  type ObservedObject,
  ORPHAN_FINALIZER,
  type OwnerReference,
  ownersOf,
} from './owner-reference.js';

export interface JudgeOptions {
  readonly client: ApiClient;
  readonly reader: CatalogueReader;
  readonly graph: ObjectGraph;
  readonly gone: GoneObjects;
  /** Returns why the graph may lack dependents; undefined if it is complete. */
  readonly whyIncomplete: () => string | undefined;
  readonly judgeSoon: (uid: string) => void;
  /** An owner reference that Kubernetes does not allow. */
  readonly onInvalidOwner: (dependent: ObservedObject, owner: OwnerReference) => void;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface Owners {
  readonly solid: OwnerReference[];
  readonly absent: OwnerReference[];
  /** Owners that are being deleted in the foreground and wait for this object. */
  readonly waiting: OwnerReference[];
}

/** Reads one object and its owners, and acts. Rejects with NotYet while one is unknown. */
export async function judge(options: JudgeOptions, uid: string): Promise<void> {
  const { graph, client, reader } = options;
  if (graph.isHeardOf(uid)) return judgeHeardOf(options, uid);
  const seen = graph.object(uid);
  if (!seen || (seen.isDeleting && !seen.isForeground)) return;
  const live = await readLive(client, reader, seen);
  if (live === 'absent') return graph.remove(uid);
  if (isForeground(live.metadata)) return endForeground(options, seen, live);
  if (live.metadata['deletionTimestamp'] !== undefined) return;
  const references = ownersOf(live.metadata);
  if (references.length === 0) return;
  const owners = await classify(options, seen, references);
  if (owners) await decide(options, seen, live, owners);
}

/**
 * Judges an owner of which only references were seen: dependents of one that does not exist are
 * judged. References may disagree about its kind, and one that cannot be resolved must not delay
 * the others.
 */
async function judgeHeardOf(options: JudgeOptions, uid: string): Promise<void> {
  const { graph } = options;
  let isGone = true;
  let doubt: string | undefined;
  for (const [reference, dependents] of meanings(graph.dependents(uid), uid)) {
    const state = await lookUpOwner(options, reference, dependents[0]!.namespace);
    // Seen by a watch meanwhile.
    if (!graph.isHeardOf(uid)) return;
    if (state.kind === 'unknown') doubt ??= state.why;
    else if (state.kind !== 'present') for (const each of dependents) options.judgeSoon(each.uid);
    isGone &&= state.kind === 'absent';
  }
  if (isGone) graph.remove(uid);
  if (doubt !== undefined) throw new NotYet(doubt);
}

/** Groups dependents by what they mean by one UID. */
function meanings(dependents: readonly ObservedObject[], uid: string): [OwnerReference, ObservedObject[]][] {
  const found = new Map<string, [OwnerReference, ObservedObject[]]>();
  for (const dependent of dependents) {
    const reference = dependent.owners.find((each) => each.uid === uid);
    if (!reference) continue;
    const meaning = [reference.apiVersion, reference.kind, dependent.namespace, reference.name].join(' ');
    const known = found.get(meaning);
    if (known) known[1].push(dependent);
    else if (found.size < MEANINGS_MAX) found.set(meaning, [reference, [dependent]]);
  }
  return [...found.values()];
}

/** Bound on different meanings of one UID; correct references have one. */
const MEANINGS_MAX = 20;

async function classify(
  options: JudgeOptions,
  seen: ObservedObject,
  references: readonly OwnerReference[],
): Promise<Owners | undefined> {
  const owners: Owners = { solid: [], absent: [], waiting: [] };
  for (const reference of references) {
    const state = await lookUpOwner(options, reference, seen.namespace);
    if (state.kind === 'unknown') throw new NotYet(state.why);
    if (state.kind === 'unresolvable' || isElsewhere(options.graph, seen, reference, state))
      options.onInvalidOwner(seen, reference);
    if (state.kind === 'unresolvable') return undefined;
    if (state.kind === 'absent') owners.absent.push(reference);
    else if (isForeground(state.object['metadata'])) owners.waiting.push(reference);
    else owners.solid.push(reference);
  }
  return owners;
}

function isElsewhere(graph: ObjectGraph, seen: ObservedObject, { uid }: OwnerReference, state: OwnerState): boolean {
  const owner = graph.object(uid);
  return state.kind === 'absent' && owner !== undefined && owner.namespace !== '' && owner.namespace !== seen.namespace;
}

async function decide(options: JudgeOptions, seen: ObservedObject, live: LiveObject, owners: Owners): Promise<void> {
  const { solid, absent, waiting } = owners;
  const { graph, logger } = options;
  if (solid.length > 0) {
    const released = new Set([...absent, ...waiting].map(({ uid }) => uid));
    if (released.size === 0) return;
    logger.debug('an object keeps its other owners', { object: live.place, released: [...released] });
    return dropOwners(live, released);
  }
  if (waiting.length > 0 && graph.dependents(seen.uid).length > 0) {
    // Objects in a cycle would wait for each other for ever.
    const isInRing = graph.dependents(seen.uid).some(({ isForeground }) => isForeground);
    if (isInRing) {
      await unblockOwners(live);
      throw new NotYet(`${live.place} no longer blocks its owners`);
    }
    return collect(options, seen, live, 'Foreground', waiting);
  }
  const finalizers = texts(live.metadata, 'finalizers');
  const policy = finalizers.includes(ORPHAN_FINALIZER)
    ? 'Orphan'
    : finalizers.includes(FOREGROUND_FINALIZER)
      ? 'Foreground'
      : 'Background';
  return collect(options, seen, live, policy, [...absent, ...waiting]);
}

async function collect(
  { logger, metrics }: JudgeOptions,
  seen: ObservedObject,
  live: LiveObject,
  policy: 'Background' | 'Foreground' | 'Orphan',
  because: readonly OwnerReference[],
): Promise<void> {
  await live.delete(policy);
  metrics.objectsCollected.labels(policy).inc();
  logger.debug('object deleted: its owners are gone', {
    object: live.place,
    uid: seen.uid,
    policy,
    owners: because.map(({ kind, name, uid }) => `${kind}/${name} ${uid}`),
  });
}

/** Ends a foreground deletion when no dependent blocks it any more. */
async function endForeground(options: JudgeOptions, seen: ObservedObject, live: LiveObject): Promise<void> {
  const blockers = options.graph.blockers(seen.uid);
  for (const each of blockers) if (!each.isForeground) options.judgeSoon(each.uid);
  if (blockers.length > 0) return;
  const gap = options.whyIncomplete();
  if (gap !== undefined) throw new NotYet(`dependents of ${live.place} may not be known: ${gap}`);
  await removeFinalizer(live, FOREGROUND_FINALIZER);
  options.logger.debug('foreground deletion done', { object: live.place });
}

function isForeground(metadata: Json | undefined): boolean {
  if (!isObject(metadata) || metadata['deletionTimestamp'] === undefined) return false;
  return texts(metadata, 'finalizers').includes(FOREGROUND_FINALIZER);
}

export async function removeFinalizer(live: LiveObject, name: string): Promise<void> {
  const present = texts(live.metadata, 'finalizers');
  if (!present.includes(name)) return;
  const left = present.filter((each) => each !== name);
  await live.patchMetadata({ finalizers: left.length === 0 ? null : left });
}

/** Removes owner references. The others are sent back whole, with members that are unknown here. */
export async function dropOwners(live: LiveObject, uids: ReadonlySet<string>): Promise<void> {
  const present = rawReferences(live);
  const left = present.filter((each) => !isObject(each) || !uids.has(text(each, 'uid')));
  if (left.length === present.length) return;
  await live.patchMetadata({ ownerReferences: left.length === 0 ? null : left });
}

async function unblockOwners(live: LiveObject): Promise<void> {
  const references = rawReferences(live).map((each) =>
    isObject(each) ? { ...each, blockOwnerDeletion: false } : each,
  );
  await live.patchMetadata({ ownerReferences: references });
}

function rawReferences({ metadata }: LiveObject): Json[] {
  const references = metadata['ownerReferences'];
  return Array.isArray(references) ? references : [];
}
