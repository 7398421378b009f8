import type { Json } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { BODY_VALUES_MAX } from '../contracts/size-bounds.js';
import { namesEachOnce } from '../schema/duplicate-fields.js';
import { hasMoreValues } from '../values/json-text.js';
import { firstDocument } from './first-document.js';
import { parseInThread, YAML_INLINE_BYTES_MAX } from './yaml-thread.js';

const LIKE_JSON = /^\s*\{/;

/** Found while a body was turned into JSON, which has no place for it. */
const duplicates = new WeakMap<Buffer, number>();

/** The first document itself where it is short, or is JSON already; long YAML is turned into JSON by a thread. Throws BadRequest. */
export async function withoutLongYaml(body: Buffer): Promise<Buffer> {
  if (body.byteLength <= YAML_INLINE_BYTES_MAX) return body;
  const text = firstDocument(body.toString('utf8'));
  if (text.length <= YAML_INLINE_BYTES_MAX || isPlainJson(text)) return Buffer.from(text);
  const { text: json, problem, duplicateAtLine } = await parseInThread(text);
  if (json === undefined) throw new StatusError('BadRequest', `error converting YAML to JSON: yaml: ${problem}`);
  const bytes = Buffer.from(json);
  if (duplicateAtLine !== undefined) duplicates.set(bytes, duplicateAtLine);
  return bytes;
}

/** The first line of a body's YAML that named a member again, where a thread has read it. */
export function duplicateLineOf(body: Buffer): number | undefined {
  return duplicates.get(body);
}

/** Nearly all JSON is YAML that means the same, and is read in a fraction of the time. */
function isPlainJson(text: string): boolean {
  // Who asked refuses it; until then it need not be read.
  if (LIKE_JSON.test(text) && hasMoreValues(text, BODY_VALUES_MAX)) return true;
  const value = parsedJson(text);
  return value !== undefined && namesEachOnce(text, value);
}

/** The value of a YAML text that is a JSON object; undefined for any other. */
export function parsedJson(text: string): Json | undefined {
  if (!LIKE_JSON.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
