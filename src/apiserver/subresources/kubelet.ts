import { isObject } from '../../api/json.js';
import type { Reply } from '../../core/exchange.js';
import { StatusError } from '../../core/status-error.js';
import { servedViews } from '../registry/served-view.js';
import { type ApiCall, keyOf } from '../verbs/api-call.js';
import { readNewest } from '../verbs/get.js';
import { notFound } from '../verbs/storage-failure.js';

/** Logs, exec and the like are a kubelet's answers, and this server reaches none. */
export async function kubeletUnreachable(call: ApiCall): Promise<Reply> {
  const { type, info } = call;
  const stored = await readNewest(call, keyOf(call));
  if (!stored) throw notFound(type, info.name);
  const [view] = await servedViews([stored], type);
  const spec = view!.object['spec'];
  const node = isObject(spec) ? (spec['nodeName'] ?? '') : '';
  if (type.resource === 'pods' && node === '') {
    throw new StatusError('BadRequest', `pod ${info.name} does not have a host assigned`);
  }
  throw new StatusError(
    'ServiceUnavailable',
    `${type.resource}/${info.subresource} needs a kubelet; this API server runs without nodes`,
  );
}
