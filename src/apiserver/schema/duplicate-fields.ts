import type { Json } from '../../kube/json.js';
import { jsonStringEnd } from '../values/json-text.js';

/** More duplicates than this are not listed. */
export const DUPLICATE_FIELDS_MAX = 100;

/**
 * The paths of members that a JSON text names twice in one object: a parser keeps only the last, field validation wants
 * to know. The text must be valid JSON; it is scanned once, without recursion.
 */
export function duplicateFields(text: string): string[] {
  const duplicates: string[] = [];
  const levels: Level[] = [];
  const token = /[{}[\],:]|"(?:[^"\\]|\\.)*"/gs;
  let previous: string | undefined;
  for (const [each] of text.matchAll(token)) {
    const level = levels.at(-1);
    if (each === '{' || each === '[') levels.push(open(each, level));
    else if (each === '}' || each === ']') levels.pop();
    else if (each === ',' && level?.names === undefined && level !== undefined) level.index++;
    else if (each === ':' && level?.names !== undefined && previous !== undefined) {
      enter(level, JSON.parse(previous) as string, duplicates);
      if (duplicates.length >= DUPLICATE_FIELDS_MAX) break;
    }
    previous = each.startsWith('"') ? each : undefined;
  }
  return duplicates;
}

/**
 * Whether a JSON text names every member of what it was parsed to once: it has as many names as that has members. Nearly
 * every text does, and counting costs a fraction of looking for who is named twice.
 */
export function namesEachOnce(text: string, parsed: Json): boolean {
  return namesIn(text) === membersIn(parsed);
}

/** Strings that a colon follows. */
function namesIn(text: string): number {
  let count = 0;
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    const end = jsonStringEnd(text, quote);
    if (end < 0) return count;
    let next = end + 1;
    while (isSpace(text.charCodeAt(next))) next++;
    if (text.charCodeAt(next) === COLON) count++;
    quote = text.indexOf('"', next);
  }
  return count;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const COLON = 0x3a;

/** On all levels; how many those are is bounded before. */
function membersIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += membersIn(item);
  else {
    const names = Object.keys(value);
    count = names.length;
    for (const name of names) count += membersIn(value[name]!);
  }
  return count;
}

interface Level {
  readonly path: string;
  /** Undefined in a list. */
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
}

function open(bracket: string, parent: Level | undefined): Level {
  return {
    path: parent === undefined ? '' : pathIn(parent),
    names: bracket === '{' ? new Set() : undefined,
    name: '',
    index: 0,
  };
}

function pathIn({ path, names, name, index }: Level): string {
  if (names === undefined) return `${path}[${index}]`;
  return path === '' ? name : `${path}.${name}`;
}

function enter(level: Level, name: string, duplicates: string[]): void {
  level.name = name;
  if (level.names!.has(name) && duplicates.length < DUPLICATE_FIELDS_MAX) duplicates.push(pathIn(level));
  level.names!.add(name);
}
