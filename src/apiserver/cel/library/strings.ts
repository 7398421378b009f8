import { CHARACTER_COST } from '../budget.js';
import { fail } from '../failure.js';
import { type CallCost, declare, traversal } from '../overload.js';
import { characters, checkListLength, checkTextLength } from '../text.js';
import { type CelInt, CelList, sizeOf } from '../values.js';
import { formatText } from './format-text.js';
import { quote } from './quote.js';

const search: CallCost = ([text, part]) =>
  Math.ceil(sizeOf(text!) * CHARACTER_COST) * Math.ceil(sizeOf(part!) * CHARACTER_COST);
const made: CallCost = (_, result) => Math.ceil(sizeOf(result) * 2 * CHARACTER_COST);

export const STRINGS = [
  declare('string::contains(string) -> bool', (text: string, part: string) => text.includes(part), search),
  declare('string::startsWith(string) -> bool', (text: string, part: string) => text.startsWith(part), traversal()),
  declare('string::endsWith(string) -> bool', (text: string, part: string) => text.endsWith(part), traversal()),
  declare('string::charAt(int) -> string', charAt, traversal()),
  declare('string::indexOf(string) -> int', indexOf, traversal()),
  declare('string::indexOf(string, int) -> int', indexOf, traversal()),
  declare('string::lastIndexOf(string) -> int', lastIndexOf, traversal()),
  declare('string::lastIndexOf(string, int) -> int', lastIndexOf, traversal()),
  declare('string::lowerAscii() -> string', lowerAscii, traversal()),
  declare('string::upperAscii() -> string', upperAscii, traversal()),
  declare('string::trim() -> string', trim, traversal()),
  declare('string::substring(int) -> string', substring, traversal()),
  declare('string::substring(int, int) -> string', substring, traversal()),
  declare('string::replace(string, string) -> string', replace, traversal(2)),
  declare('string::replace(string, string, int) -> string', replace, traversal(2)),
  declare('string::split(string) -> list<string>', split, traversal(2)),
  declare('string::split(string, int) -> list<string>', split, traversal(2)),
  declare('list<string>::join() -> string', join, made),
  declare('list<string>::join(string) -> string', join, made),
  declare('string::format(list<dyn>) -> string', formatText, (args, result) =>
    Math.ceil((sizeOf(args[0]!) + sizeOf(result)) * CHARACTER_COST),
  ),
  declare('strings.quote(string) -> string', quote, traversal()),
];

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (each) => each.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (each) => each.toUpperCase());
}

/** The part of a text between two indexes in code points. */
function cut(text: string, from: number, to?: number): string {
  const parts = characters(text);
  return typeof parts === 'string' ? parts.slice(from, to) : parts.slice(from, to).join('');
}

function charAt(text: string, index: CelInt): string {
  const { length } = characters(text);
  if (index < 0 || index > length) return fail(`index out of range: ${index}`);
  return cut(text, Number(index), Number(index) + 1);
}

function indexOf(text: string, part: string, from: CelInt = 0): number {
  const all = characters(text);
  if (part === '') return Number(from);
  if (from < 0) return fail(`index out of range: ${from}`);
  if (from >= all.length) return -1;
  if (typeof all === 'string') return all.indexOf(part, Number(from));
  const start = all.slice(0, Number(from)).join('').length;
  const found = text.indexOf(part, start);
  return found === -1 ? -1 : characters(text.slice(0, found)).length;
}

function lastIndexOf(text: string, part: string, from?: CelInt): number {
  const all = characters(text);
  if (part === '') return from === undefined ? all.length : Number(from);
  if (from !== undefined && from < 0) return fail(`index out of range: ${from}`);
  if (from !== undefined && from >= all.length) return -1;
  const place =
    from === undefined
      ? text.length
      : typeof all === 'string'
        ? Number(from)
        : all.slice(0, Number(from)).join('').length;
  const found = text.lastIndexOf(part, place);
  return found === -1 ? -1 : characters(text.slice(0, found)).length;
}

/** Removes white space as Unicode defines it; JavaScript's trim would also remove a byte order mark. */
function trim(text: string): string {
  return text
    .replace(/^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/, '')
    .replace(/[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/, '');
}

function substring(text: string, start: CelInt, end?: CelInt): string {
  const { length } = characters(text);
  const stop = end ?? length;
  if (end !== undefined && start > stop) return fail(`invalid substring range. start: ${start}, end: ${stop}`);
  if (start < 0 || start > length) return fail(`index out of range: ${start}`);
  if (stop < 0 || stop > length) return fail(`index out of range: ${stop}`);
  return cut(text, Number(start), Number(stop));
}

function replace(text: string, from: string, to: string, countMax: CelInt = -1): string {
  // An empty text matches before, between and after the characters.
  const parts = from === '' ? ['', ...text, ''] : text.split(from);
  const count = countMax < 0 ? parts.length - 1 : Math.min(Number(countMax), parts.length - 1);
  checkTextLength(text.length + count * to.length);
  return (
    parts.slice(0, count + 1).join(to) + (count + 1 < parts.length ? from + parts.slice(count + 1).join(from) : '')
  );
}

function split(text: string, separator: string, countMax: CelInt = -1): CelList {
  if (countMax === 0) return new CelList([]);
  const parts = separator === '' ? [...text] : text.split(separator);
  if (countMax < 0 || parts.length <= countMax) return new CelList(parts);
  const count = Number(countMax);
  checkListLength(parts.length);
  return new CelList([...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)]);
}

function join({ items }: CelList, separator = ''): string {
  let length = Math.max(0, items.length - 1) * separator.length;
  for (const each of items) length += typeof each === 'string' ? each.length : fail(`join: invalid input: ${each}`);
  checkTextLength(length);
  return (items as readonly string[]).join(separator);
}
