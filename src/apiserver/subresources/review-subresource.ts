import type { Reply } from '../../http/exchange.js';
import { groupVersion } from '../../kube/gvr.js';
import { isObject } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { reviewForm } from '../reviews/review-form.js';
import { type ReviewDependencies, reviews } from '../reviews/reviews.js';
import { plainAnswer } from '../verbs/answer.js';
import { checkKind, readDocument } from '../verbs/decode.js';
import { writeOptions } from '../verbs/options.js';
import { admitCreation, type CreationCall } from './admit-creation.js';

/** The resource of a review and its kind. */
interface ReviewPlace {
  /** `group/resource`, or that with the subresource. */
  readonly place: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Replies to a review: an object that is created, completed and never stored. */
export async function review(
  call: CreationCall,
  { place, group, version, kind }: ReviewPlace,
  dependencies: ReviewDependencies,
): Promise<Reply> {
  const handler = reviews.get(place);
  if (!handler) return other(call, place);
  const apiVersion = groupVersion(group, version);
  const sent = await readDocument(call.exchange, { apiVersion, kind });
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
  const { namespace, name } = info;
  const answer = await admitCreation(creation, (object, admit) =>
    handler({ object, user, namespace, name, admit }, dependencies),
  );
  return plainAnswer(call, 201, answer);
}

/** Replies to a list of component statuses, which are deprecated, with an empty list. */
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
  return plainAnswer(call, 200, { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items: [] });
}
