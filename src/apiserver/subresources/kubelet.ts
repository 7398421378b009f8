import { isObject, type JsonObject } from '../../api/json.js';
import type { Reply } from '../../core/exchange.js';
import { StatusError } from '../../core/status-error.js';
import { servedViews } from '../registry/served-view.js';
import { type ApiCall, keyOf } from '../verbs/api-call.js';
import { readNewest } from '../verbs/get.js';
import { notFound } from '../verbs/storage-failure.js';

/** Subresources of a pod that are about one of its containers. */
const OF_A_CONTAINER = new Set(['attach', 'exec', 'log']);

/** Logs, exec and the like are a kubelet's answers, and this server reaches none. */
export async function kubeletUnreachable(call: ApiCall): Promise<Reply> {
  const { type, info } = call;
  const stored = await readNewest(call, keyOf(call));
  if (!stored) throw notFound(type, info.name);
  const [view] = await servedViews([stored], type);
  const spec = isObject(view!.object['spec']) ? view!.object['spec'] : {};
  if (type.resource === 'pods') {
    if (OF_A_CONTAINER.has(info.subresource)) checkContainer(call, spec);
    if ((spec['nodeName'] ?? '') === '') return withoutNode(call);
  }
  throw new StatusError(
    'ServiceUnavailable',
    `${type.resource}/${info.subresource} needs a kubelet; this API server runs without nodes`,
  );
}

/** What runs nowhere has said nothing yet, and can do nothing yet. */
function withoutNode({ info }: ApiCall): Reply {
  if (info.subresource === 'log') return { status: 204, headers: ['Cache-Control', 'no-cache, private'], body: null };
  throw new StatusError('BadRequest', `pod ${info.name} does not have a host assigned`);
}

/** Throws BadRequest where it is not clear which container is meant, or where there is none of that name. */
function checkContainer({ query, info }: ApiCall, spec: JsonObject): void {
  const wanted = query.get('container') ?? '';
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => namesIn(spec, list));
  if (wanted !== '') {
    if (names.includes(wanted)) return;
    throw new StatusError('BadRequest', `container ${wanted} is not valid for pod ${info.name}`);
  }
  if (namesIn(spec, 'containers').length === 1) return;
  throw new StatusError(
    'BadRequest',
    `a container name must be specified for pod ${info.name}, choose one of: [${names.join(' ')}]`,
  );
}

function namesIn(spec: JsonObject, list: string): string[] {
  const containers = spec[list];
  if (!Array.isArray(containers)) return [];
  return containers.map((each) => (isObject(each) ? String(each['name'] ?? '') : ''));
}
