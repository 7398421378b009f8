import { NotYet } from '../../../kube/client/api-client.js';
import { texts } from '../../../kube/fields.js';
import { dropOwners, type JudgeOptions, removeFinalizer } from './judge.js';
import { readLive } from './live-object.js';
import { ORPHAN_FINALIZER } from './owner-reference.js';

/**
 * Removes the references of all dependents to an owner deleted with `orphan`, then its finalizer. A
 * dependent that was missed would be deleted as garbage later, so this waits until the graph is
 * complete.
 */
export async function releaseDependents(options: JudgeOptions, uid: string): Promise<void> {
  const { client, reader, graph, logger } = options;
  const seen = graph.object(uid);
  if (!seen?.isOrphaning) return;
  const live = await readLive(client, reader, seen);
  if (live === 'absent') return graph.remove(uid);
  if (!texts(live.metadata, 'finalizers').includes(ORPHAN_FINALIZER)) return;
  if (live.metadata['deletionTimestamp'] === undefined) return;
  waitForAll(options, live.place);
  const released = new Set<string>();
  const uids = new Set([uid]);
  for (const dependent of graph.dependents(uid)) {
    const found = await readLive(client, reader, dependent);
    if (found !== 'absent') await dropOwners(found, uids);
    released.add(dependent.uid);
  }
  waitForAll(options, live.place);
  const late = graph.dependents(uid).filter((each) => !released.has(each.uid));
  if (late.length > 0) throw new NotYet(`${live.place} has got further dependents`);
  await removeFinalizer(live, ORPHAN_FINALIZER);
  logger.debug('dependents released', { object: live.place, dependents: released.size });
}

function waitForAll({ whyIncomplete }: JudgeOptions, place: string): void {
  const gap = whyIncomplete();
  if (gap !== undefined) throw new NotYet(`dependents of ${place} may not be known: ${gap}`);
}
