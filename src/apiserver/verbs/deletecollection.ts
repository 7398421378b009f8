import type { Reply } from '../../http/exchange.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import type { ApiCall } from './api-call.js';
import { deleteObject } from './delete.js';
import { type DeleteOptions, deleteOptions } from './delete-options.js';
import { listAnswer, listHead, readPage } from './list.js';
import { listOptions } from './list-options.js';
import { outputForm } from './output-form.js';
import { selectionOf } from './selection.js';

/** Bound on concurrent deletions, which share the store's group commit. */
const CONCURRENCY_MAX = 16;

export async function deletecollection(call: ApiCall): Promise<Reply> {
  const options = await deleteOptions(call);
  const page = await readPage(call, listOptions(call.query), selectionOf(call));
  const found = page.views.map(({ object }) => object);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < found.length) {
      await deleteFound(call, found[next++]!, options);
      if (call.slices.isOver) await call.slices.next();
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY_MAX, found.length) }, worker));
  const head = listHead(call, { ...page, continueToken: '' });
  const form = { ...outputForm(call.exchange, call.query), as: 'object' } as const;
  return listAnswer(call, { head, objects: found, asItem: (object) => object }, form);
}

async function deleteFound(call: ApiCall, object: JsonObject, options: DeleteOptions): Promise<void> {
  const namespace = String(metadataOf(object)['namespace'] ?? '');
  try {
    await deleteObject({ ...call, info: { ...call.info, namespace } }, nameOf(object), options);
  } catch (error) {
    // Deleted or changed by another request in the meantime.
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'NotFound' && reason !== 'Conflict') throw error;
  }
}
