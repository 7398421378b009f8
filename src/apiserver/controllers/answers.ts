import { type ApiAnswer, type ApiClient, ApiRefusal } from '../../kube/client/api-client.js';
import { child, text } from '../../kube/fields.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';

/** The result of a GET of one object. */
export type Found =
  | { readonly kind: 'present'; readonly object: JsonObject }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Classifies the answer to a GET of one object. Only a Status that names the object proves that it
 * does not exist: another 404 may be from a server that does not serve the resource.
 */
export function readFound(answer: ApiAnswer, name: string): Found {
  if (answer.status === 200) {
    if (text(metadataOf(answer.body), 'uid') !== '') return { kind: 'present', object: answer.body };
    return { kind: 'unknown', why: 'the answer is not an object' };
  }
  if (isDefinitelyAbsent(answer, name)) return { kind: 'absent' };
  const message = answer.body['message'];
  return { kind: 'unknown', why: `${answer.status}${typeof message === 'string' ? `: ${message.slice(0, 300)}` : ''}` };
}

export function isDefinitelyAbsent({ status, body }: ApiAnswer, name: string): boolean {
  if (status !== 404 || body['kind'] !== 'Status' || body['reason'] !== 'NotFound') return false;
  return child(body, 'details')?.['name'] === name;
}

const PAGE_ITEMS = 500;

interface Page {
  readonly items: readonly Json[];
  readonly resourceVersion: string;
  /** The continue token; empty on the last page. */
  readonly next: string;
}

/**
 * Reads the metadata of one page of a list: the one after the continue token `after`, the first one
 * if that is empty. Rejects with ApiRefusal unless the answer is 200.
 */
export async function listPage(
  client: ApiClient,
  path: string,
  after: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Page> {
  const query = new URLSearchParams({
    limit: String(PAGE_ITEMS),
    ...(after === '' ? {} : { continue: after }),
    ...more,
  });
  const answer = await client.request({ method: 'GET', target: `${path}?${query}`, metadataOnly: true });
  const { items, metadata } = answer.body;
  if (answer.status !== 200) throw new ApiRefusal(`list ${path}`, answer);
  if (!isObject(metadata) || (items !== null && !Array.isArray(items)))
    throw new Error(`list ${path}: the answer is not a list`);
  return { items: items ?? [], resourceVersion: text(metadata, 'resourceVersion'), next: text(metadata, 'continue') };
}
