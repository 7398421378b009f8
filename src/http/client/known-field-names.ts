import { hopByHopNames } from '../headers.js';

/** Meaning of a field name for one connection. */
export const FieldKind = {
  invalid: -1,
  ordinary: 0,
  host: 1,
  expect: 2,
  contentLength: 3,
  /** RFC 9110, 7.6.1, without `trailer`, which announces fields that are forwarded. */
  hopByHop: 4,
  connection: 5,
  keepAlive: 6,
  transferEncoding: 7,
  upgrade: 8,
} as const;
export type FieldKind = (typeof FieldKind)[keyof typeof FieldKind];

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Bound on cached names. A full cache is cleared, which costs only time. */
const REMEMBERED_MAX = 1_024;
const REMEMBERED_NAME_MAX = 64;

const NAMED: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['host', FieldKind.host],
  ['expect', FieldKind.expect],
  ['content-length', FieldKind.contentLength],
  ['connection', FieldKind.connection],
  ['keep-alive', FieldKind.keepAlive],
  ['transfer-encoding', FieldKind.transferEncoding],
  ['upgrade', FieldKind.upgrade],
]);

export interface KnownName {
  /** Always the same string object: later Map look-ups reuse its hash. */
  readonly name: string;
  readonly kind: FieldKind;
}

const remembered = new Map<string, KnownName>();

export function knownName(spelling: string): KnownName {
  const known = remembered.get(spelling);
  if (known !== undefined) return known;
  const kind = judge(spelling);
  if (kind === FieldKind.invalid || spelling.length > REMEMBERED_NAME_MAX) return { name: spelling, kind };
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  // Copied: a slice of a head would keep the whole head in memory.
  const name = Buffer.from(spelling, 'latin1').toString('latin1');
  const made = { name, kind };
  remembered.set(name, made);
  return made;
}

function judge(name: string): FieldKind {
  if (!TOKEN.test(name)) return FieldKind.invalid;
  const lower = name.toLowerCase();
  const named = NAMED.get(lower);
  if (named !== undefined) return named;
  return lower !== 'trailer' && hopByHopNames([]).has(lower) ? FieldKind.hopByHop : FieldKind.ordinary;
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}
