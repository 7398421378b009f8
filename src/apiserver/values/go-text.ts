import { isObject, type Json } from '../../kube/json.js';

/** A document as Go prints it with `%v`: several of kube-apiserver's messages hold values in this form. */
export function goText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
}

/** The name Go's JSON decoder has for what it found where something else was wanted. */
export function goJsonKind(value: Json | undefined): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null || value === undefined ? 'null' : typeof value;
}
