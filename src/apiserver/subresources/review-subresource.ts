import type { Reply } from '../../http/exchange.js';
import { groupVersion } from '../../kube/gvr.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { reviewForm } from '../reviews/review-form.js';
import { type ReviewDependencies, reviews } from '../reviews/reviews.js';
import { plainAnswer } from '../verbs/answer.js';
import { bodyEncoding, checkKind, parseDocument } from '../verbs/decode.js';
import { writeOptions } from '../verbs/options.js';
import { readRequestBody } from '../verbs/read-body.js';
import { admitCreation, type CreationCall } from './admit-creation.js';

/** Where a question is asked, and the kind it has. */
export interface ReviewPlace {
  /** `group/resource`, or that with the subresource. */
  readonly place: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Questions that are asked by creating an object, which is answered and never stored. */
export async function review(
  call: CreationCall,
  { place, group, version, kind }: ReviewPlace,
  dependencies: ReviewDependencies,
): Promise<Reply> {
  const handler = reviews.get(place);
  if (!handler) return other(call, place);
  const encoding = bodyEncoding(call.exchange);
  const apiVersion = groupVersion(group, version);
  const sent = parseDocument(await readRequestBody(call.exchange), encoding, "couldn't get version/kind", {
    apiVersion,
    kind,
  });
  if (!isObject(sent))
    throw new StatusError('BadRequest', "couldn't get version/kind; json parse error: the document is no object");
  checkKind(sent, { group, version, kind, origin: 'built-in' });
  const { info, user } = call;
  const creation = {
    call,
    object: { ...reviewForm(kind, sent), kind, apiVersion },
    name: info.name === '' ? nameOf(sent) : info.name,
    options: writeOptions('CreateOptions', call.query),
  };
  const answer = await admitCreation(creation, (object, admit) =>
    handler(
      {
        object,
        user,
        namespace: info.namespace,
        name: info.name,
        admit,
      },
      dependencies,
    ),
  );
  return plainAnswer(call, 201, answer);
}

/** Component statuses are deprecated and say nothing here: no component is asked. */
async function other(call: CreationCall, place: string): Promise<Reply> {
  const { info } = call;
  if (place !== '/componentstatuses') {
    throw new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
  if (info.name !== '')
    throw new StatusError('NotFound', `componentstatuses ${JSON.stringify(info.name)} not found`, {
      name: info.name,
      kind: 'componentstatuses',
    });
  call.warnings.add('v1 ComponentStatus is deprecated in v1.19+');
  const empty: JsonObject = {
    kind: 'ComponentStatusList',
    apiVersion: groupVersion('', 'v1'),
    metadata: {},
    items: [],
  };
  return plainAnswer(call, 200, empty);
}
