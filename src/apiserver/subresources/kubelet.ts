import type { Reply } from '../../http/exchange.js';
import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { forbidden } from '../authorization/forbidden.js';
import { admissionRequest } from '../verbs/admission-request.js';
import { type ApiCall, attributesOfCall } from '../verbs/api-call.js';
import { readLive } from '../verbs/get.js';
import { connectOptions } from './connect-options.js';
import { checkServiceProxy } from './service-proxy.js';

/** Subresources of a pod that concern one of its containers. */
const OF_A_CONTAINER = new Set(['attach', 'exec', 'log']);

/** Since this minor version an absent service is a service without endpoints. */
const SERVICE_BY_ENDPOINTS_MINOR = 37;

/** Subresources whose WebSocket form is a GET, which needs the permission to `create` as well. */
const STREAMING = new Set(['attach', 'exec', 'portforward']);

/** A connection to a pod, a service or a node, with admission and authorization as if a kubelet were reachable. */
export async function connect(call: ApiCall): Promise<Reply> {
  const { info, machinery, type } = call;
  if (call.query.has('dryRun')) throw new StatusError('BadRequest', 'dryRun is not supported');
  const parts = { operation: 'CONNECT', object: connectOptions(call), oldObject: undefined, options: null } as const;
  const request = admissionRequest(call, { ...parts, dryRun: false });
  await machinery.admission.mutate(request);
  await machinery.admission.validate(request);
  if (STREAMING.has(info.subresource) && info.verb !== 'create') {
    const { allowed, reason } = machinery.authorizer.authorize({ ...attributesOfCall(call), verb: 'create' });
    if (!allowed) throw forbidden(type, info.name, reason);
  }
  return kubeletUnreachable(call);
}

/** Replies as if no kubelet were reachable: also to a GET of the log of a pod that has a node. */
export async function kubeletUnreachable(call: ApiCall): Promise<Reply> {
  const { type, info, machinery } = call;
  if (type.resource === 'services' && machinery.minor >= SERVICE_BY_ENDPOINTS_MINOR) {
    await checkServiceProxy(call);
    throw needsKubelet(call);
  }
  const spec = objectMember((await readLive(call)).object, 'spec');
  if (type.resource === 'pods') {
    if (OF_A_CONTAINER.has(info.subresource)) checkContainer(call, spec);
    if ((spec['nodeName'] ?? '') === '') return withoutNode(call);
  }
  throw needsKubelet(call);
}

function needsKubelet({ type, info }: ApiCall): StatusError {
  return new StatusError(
    'ServiceUnavailable',
    `${type.resource}/${info.subresource} needs a kubelet; this API server runs without nodes`,
  );
}

/** A pod without a node has an empty log and no connections. */
function withoutNode({ info }: ApiCall): Reply {
  if (info.subresource === 'log') return { status: 204, headers: ['Cache-Control', 'no-cache, private'], body: null };
  throw new StatusError('BadRequest', `pod ${info.name} does not have a host assigned`);
}

/** Throws BadRequest if the container is ambiguous or does not exist. */
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
