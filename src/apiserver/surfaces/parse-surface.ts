import { isObject, type Json, member } from '../../kube/json.js';
import { SURFACE_FORMAT, type SurfaceFile } from './surface-file.js';

/** A file that is no surface, or one that this version cannot read. The message is one sentence with the file and the next step. */
export class SurfaceFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SurfaceFormatError';
  }
}

export interface SurfaceOrigin {
  /** Named in messages. */
  readonly file: string;
  /** What to do about a damaged file, as the end of a sentence. */
  readonly remedy: string;
  /** True for the files that ship with Straddle: tests have read every part of them, and a start need not. */
  readonly isOurs?: boolean;
}

/** Nesting of a type that was captured is about ten. */
const TYPE_DEPTH_MAX = 100;

/** Throws SurfaceFormatError unless the text is a complete surface of the format that this version reads. */
export function parseSurface(text: string, { file, remedy, isOurs = false }: SurfaceOrigin): SurfaceFile {
  if (text.trim() === '') throw new SurfaceFormatError(`${file} is empty: ${remedy}.`);
  const value = parseJson(text, { file, remedy });
  const format = isObject(value) ? value['format'] : undefined;
  if (!isObject(value) || typeof format !== 'number' || !Number.isInteger(format) || format < SURFACE_FORMAT) {
    throw new SurfaceFormatError(
      `${file} is not a surface file of format ${SURFACE_FORMAT}: give one that \`straddle surface capture\` of this version wrote.`,
    );
  }
  if (format > SURFACE_FORMAT) {
    throw new SurfaceFormatError(
      `${file} has the surface format ${format} of a newer Straddle, and this one reads format ${SURFACE_FORMAT}: run that newer Straddle, or ${remedy}.`,
    );
  }
  const fault = isOurs ? undefined : FILE(value, '');
  if (fault !== undefined) throw new SurfaceFormatError(`${file} is damaged, ${fault}: ${remedy}.`);
  return value as unknown as SurfaceFile;
}

function parseJson(text: string, { file, remedy }: SurfaceOrigin): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const fault = endsWithin(text)
      ? `is cut off after ${Buffer.byteLength(text)} bytes`
      : `is not JSON (${(error as Error).message})`;
    throw new SurfaceFormatError(`${file} ${fault}: ${remedy}.`);
  }
}

/** Whether the text begins with an object or a list that has no end. */
function endsWithin(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (isString) {
      if (character === '\\') index++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
  }
  return depth > 0;
}

type Check = (value: Json | undefined, place: string) => string | undefined;

const isText: Check = (value, place) => (typeof value === 'string' ? undefined : `${place} is not a text`);
const isFlag: Check = (value, place) => (typeof value === 'boolean' ? undefined : `${place} is not true or false`);

const SUBRESOURCE = members({ name: isText, kind: isText, verbs: list(isText) });
const RESOURCE = members(
  { name: isText, singular: isText, kind: isText, namespaced: isFlag, verbs: list(isText) },
  { subresources: list(SUBRESOURCE), shortNames: list(isText), categories: list(isText) },
);
const VERSION = members({ version: isText, resources: list(RESOURCE) });
const FILE = members({
  capturedFrom: isText,
  version: isMinorVersion,
  groups: list(members({ name: isText, versions: list(VERSION) })),
  types: record((node, place) => typeFault(node, place, 0)),
});

function isMinorVersion(value: Json | undefined, place: string): string | undefined {
  return typeof value === 'string' && /^\d+\.\d+$/.test(value) ? undefined : `${place} is not a minor version`;
}

/** An object with all of the `required` members, and with those of the `optional` ones that it has. */
function members(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check {
  return (value, place) => {
    if (!isObject(value)) return `${place} is not an object`;
    for (const [name, check] of Object.entries(required)) {
      const fault = check(member(value, name), joined(place, name));
      if (fault !== undefined) return fault;
    }
    for (const [name, check] of Object.entries(optional)) {
      const given = member(value, name);
      const fault = given === undefined ? undefined : check(given, joined(place, name));
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function list(check: Check): Check {
  return (value, place) => {
    if (!Array.isArray(value)) return `${place} is not a list`;
    for (const [index, each] of value.entries()) {
      const fault = check(each, `${place}[${index}]`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function record(check: Check): Check {
  return (value, place) => {
    if (!isObject(value)) return `${place} is not an object`;
    for (const [name, each] of Object.entries(value)) {
      const fault = check(each, joined(place, name));
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function typeFault(node: Json | undefined, place: string, depth: number): string | undefined {
  if (typeof node === 'string') return undefined;
  if (!isObject(node)) return `${place} is not a type`;
  if (depth === TYPE_DEPTH_MAX) return `${place} is nested more than ${TYPE_DEPTH_MAX} levels deep`;
  const inner: Check = (value, where) => typeFault(value, where, depth + 1);
  return members({}, { is: isText, fields: record(inner), items: inner, values: inner, kinds: list(isText) })(
    node,
    place,
  );
}

function joined(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}
