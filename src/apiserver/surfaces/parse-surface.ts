import { isObject, type Json } from '../../kube/json.js';
import { type CapturedFormat, type FileOrigin, parseCaptured, SurfaceFormatError } from './captured-file.js';
import { type Check, isFlag, isMinorVersion, isText, list, members, record } from './member-checks.js';
import { SURFACE_FORMAT, type SurfaceFile } from './surface-file.js';

export const SURFACE_FILE: CapturedFormat = {
  name: 'surface',
  member: 'format',
  number: SURFACE_FORMAT,
  command: '`straddle surface capture`',
};

export interface SurfaceOrigin extends FileOrigin {
  /** True for the files that ship with Straddle: tests have read every part of them, and a start need not. */
  readonly isOurs?: boolean;
}

/** Nesting of a type that was captured is about ten. */
const TYPE_DEPTH_MAX = 100;

/** Throws SurfaceFormatError unless the text is a complete surface of the format that this version reads. */
export function parseSurface(text: string, { file, remedy, isOurs = false }: SurfaceOrigin): SurfaceFile {
  const value = parseCaptured(text, { file, remedy }, SURFACE_FILE);
  const fault = isOurs ? undefined : FILE(value, '');
  if (fault !== undefined) throw new SurfaceFormatError(`${file} is damaged, ${fault}: ${remedy}.`);
  return value as unknown as SurfaceFile;
}

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
