import { isObject, type JsonObject, objectMember, parsedObject } from '../../../kube/json.js';
import { type Asker, NoAnswer } from '../ask.js';

/** What a list gave. `absent`: no server serves the resource. `refused`: a right is missing, or `why` there is no list. */
export type ListReading =
  | { readonly state: 'absent' }
  | ReadList
  | { readonly state: 'refused'; readonly why: string; readonly isForbidden: boolean };

export interface ReadList {
  readonly state: 'read';
  readonly items: readonly JsonObject[];
  readonly isComplete: boolean;
  /** `remainingItemCount` of the last page; undefined if the server does not say. */
  readonly remaining: number | undefined;
}

export interface ListQuestion {
  /** Without a query. */
  readonly path: string;
  readonly pageItems: number;
  readonly pagesMax: number;
  readonly accept?: string;
}

/** Lists in pages, up to a bound. Never rejects for a reply or for the lack of one. */
export async function boundedList(asker: Asker, question: ListQuestion): Promise<ListReading> {
  const { path, pageItems, pagesMax, accept } = question;
  const items: JsonObject[] = [];
  let next = '';
  let remaining: number | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const query = `limit=${pageItems}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
    try {
      const { status, text } = await asker.get(`${path}?${query}`, accept);
      // An expired continue token: what was read is a part.
      if (status === 410 && page > 0) return { state: 'read', items, isComplete: false, remaining };
      if (status !== 200) return { state: 'refused', why: `it answered ${status}`, isForbidden: status === 403 };
      const body = parsedObject(text);
      const listed = itemsOf(body);
      if (!listed) return { state: 'refused', why: 'it answered without a list', isForbidden: false };
      items.push(...listed);
      const { continue: token, remainingItemCount } = objectMember(body, 'metadata');
      next = typeof token === 'string' ? token : '';
      if (next === '') return { state: 'read', items, isComplete: true, remaining: 0 };
      remaining = typeof remainingItemCount === 'number' ? remainingItemCount : undefined;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { state: 'refused', why: error.message, isForbidden: false };
    }
  }
  return { state: 'read', items, isComplete: false, remaining };
}

/** Returns undefined for no list. Go writes an empty list of metadata as null. */
function itemsOf({ kind, items }: JsonObject): JsonObject[] | undefined {
  if (Array.isArray(items)) return items.filter(isObject);
  const isEmpty = items === null || items === undefined;
  return isEmpty && typeof kind === 'string' && kind.endsWith('List') ? [] : undefined;
}
