import { isObject, type Json } from '../../kube/json.js';
import { goQuote } from '../values/go-quote.js';

/** A value as kube-apiserver's messages show it: quoted text, plain numbers, JSON for the rest. */
export function goValue(value: Json): string {
  if (typeof value === 'string') return goQuote(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : goJson(value);
}

/** JSON as Go writes it: members in order, and nothing that HTML could trip over. */
export function goJson(value: Json): string {
  return goJsonInOrder(inOrder(value));
}

/** As `goJson`, with members in the order they have, for values of Go structs. */
export function goJsonInOrder(value: Json): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key]!)]),
  );
}
