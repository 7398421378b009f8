/** One media range of an Accept field. `type` and `subtype` may be `*`. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly q: number;
  /** Parameters other than `q`, names in lower case. */
  readonly params: ReadonlyMap<string, string>;
}

/** Above what real clients send; the rest is ignored, so a hostile field costs bounded work. */
export const ACCEPT_CHARS_MAX = 8_192;
export const ACCEPT_CLAUSES_MAX = 64;
const PARAMS_MAX = 16;

export type AggregatedVersion = 'v2' | 'v2beta1';

/** The parameters of a media type that ask for, or mark, aggregated discovery. */
export function aggregatedParams(version: AggregatedVersion): string {
  return `;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

/** Aggregated discovery in JSON, in an Accept or a Content-Type field. */
export const AGGREGATED_V2 = `application/json${aggregatedParams('v2')}`;
export const AGGREGATED_V2BETA1 = `application/json${aggregatedParams('v2beta1')}`;

/** The profile that asks for the view of one server, without its peers. */
export const NO_PEER_PROFILE = 'nopeer';
/** Asks a server for its view without its peers; servers that know no profile ignore it. */
export const NO_PEER_VIEW = `${AGGREGATED_V2};profile=${NO_PEER_PROFILE}`;

/**
 * Parses the media ranges of a client, best first: by q, then the more specific range (RFC 9110,
 * 12.5.1: `a/b;p` before `a/b` before `a/*` before the full wildcard), then as written. Ranges with
 * `q=0` are refusals and are omitted.
 */
export function parseAccept(field: string): readonly AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const part of bounded(field, ACCEPT_CHARS_MAX).split(',', ACCEPT_CLAUSES_MAX)) {
    const clause = parseClause(part);
    if (clause && clause.q > 0) clauses.push(clause);
  }
  // Array.prototype.sort is stable, so equal ranges stay in the client's order.
  return clauses.sort((a, b) => b.q - a.q || specificity(b) - specificity(a));
}

/** Returns whether a clause accepts `type/subtype`, without regard to parameters. */
export function clauseTakes(clause: AcceptClause, type: string, subtype: string): boolean {
  if (clause.type === '*') return clause.subtype === '*';
  return clause.type === type && (clause.subtype === '*' || clause.subtype === subtype);
}

/**
 * Returns the first of `offered` (`type/subtype`) that the field accepts, by the client's
 * preference. No field accepts anything.
 */
export function chooseMediaType(field: string | undefined, offered: readonly string[]): string | undefined {
  if (field === undefined || field.trim() === '') return offered[0];
  for (const clause of parseAccept(field)) {
    for (const mediaType of offered) {
      const slash = mediaType.indexOf('/');
      if (clauseTakes(clause, mediaType.slice(0, slash), mediaType.slice(slash + 1))) return mediaType;
    }
  }
  return undefined;
}

export type DiscoveryEncoding = 'json' | 'yaml' | 'protobuf' | 'cbor';
/** A form in which a client takes a discovery document. `aggregated` is undefined for the legacy lists. */
export interface DiscoveryForm {
  readonly encoding: DiscoveryEncoding;
  readonly aggregated: AggregatedVersion | undefined;
  /** NO_PEER_PROFILE, or a profile without meaning. */
  readonly profile: string;
}

const LEGACY_JSON: DiscoveryForm = { encoding: 'json', aggregated: undefined, profile: '' };

/** In the order of kube-apiserver, which decides the encoding for a wildcard. */
const ENCODINGS: readonly (readonly [DiscoveryEncoding, string, string])[] = [
  ['json', 'application', 'json'],
  ['yaml', 'application', 'yaml'],
  ['protobuf', 'application', 'vnd.kubernetes.protobuf'],
  ['cbor', 'application', 'cbor'],
];

/**
 * Returns every form that the client accepts, best first. A range with a conversion (`as`, `g`,
 * `v`) that discovery does not have is skipped, as in kube-apiserver; parameters without a meaning
 * there (`foo=bar`, an unknown `profile`) change nothing. A wildcard stands for its first encoding
 * only.
 */
export function discoveryForms(field: string | undefined): readonly DiscoveryForm[] {
  if (field === undefined || field.trim() === '') return [LEGACY_JSON];
  const known = knownForms.get(field);
  if (known) return known;
  const forms = readForms(field);
  if (field.length <= KNOWN_CHARS_MAX) {
    if (knownForms.size >= KNOWN_FIELDS_MAX) knownForms.clear();
    knownForms.set(field, forms);
  }
  return forms;
}

/** Cache: clients repeat the same few fields. */
const knownForms = new Map<string, readonly DiscoveryForm[]>();
const KNOWN_FIELDS_MAX = 64;
const KNOWN_CHARS_MAX = 1_024;

function readForms(field: string): readonly DiscoveryForm[] {
  const forms: DiscoveryForm[] = [];
  for (const clause of parseAccept(field)) {
    const encoding = ENCODINGS.find(([, type, subtype]) => clauseTakes(clause, type, subtype));
    const aggregated = conversionOf(clause);
    if (!encoding || aggregated === 'unknown') continue;
    forms.push({ encoding: encoding[0], aggregated, profile: clause.params.get('profile') ?? '' });
  }
  return forms;
}

function conversionOf(clause: AcceptClause): AggregatedVersion | undefined | 'unknown' {
  const { params, subtype } = clause;
  // `sv` selects a server version, which discovery does not have, and `stream` a form of events.
  if (params.get('sv')) return 'unknown';
  const stream = params.get('stream');
  if (stream && (stream !== 'watch' || subtype === 'yaml')) return 'unknown';
  if (!params.has('as') && !params.has('g') && !params.has('v')) return undefined;
  const version = params.get('v');
  const known = params.get('g') === 'apidiscovery.k8s.io' && params.get('as') === 'APIGroupDiscoveryList';
  return known && (version === 'v2' || version === 'v2beta1') ? version : 'unknown';
}

function parseClause(part: string): AcceptClause | undefined {
  const [range, ...rawParams] = part.split(';', PARAMS_MAX + 1);
  const [type = '', subtype, ...more] = range!.split('/').map((word) => word.trim().toLowerCase());
  if (type === '' || more.length > 0 || subtype === '') return undefined;
  if (subtype === undefined && type !== '*') return undefined;

  let q = 1;
  const params = new Map<string, string>();
  for (const raw of rawParams) {
    const equals = raw.indexOf('=');
    if (equals < 0) continue;
    const name = raw.slice(0, equals).trim().toLowerCase();
    const value = unquoted(raw.slice(equals + 1).trim());
    if (name === 'q') q = qualityOf(value);
    else if (name !== '') params.set(name, value);
  }
  return { type, subtype: subtype ?? '*', q, params };
}

/** Parses q. A malformed q counts as a refusal, as in Go. */
function qualityOf(value: string): number {
  const q = /^[0-9.]{1,8}$/.test(value) ? Number(value) : Number.NaN;
  return Number.isNaN(q) ? 0 : Math.min(q, 1);
}

function specificity(clause: AcceptClause): number {
  if (clause.type === '*') return 0;
  if (clause.subtype === '*') return 1;
  return clause.params.size === 0 ? 2 : 3;
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

/** Cuts after the last complete clause, so that half a clause is not parsed as one. */
function bounded(field: string, charsMax: number): string {
  if (field.length <= charsMax) return field;
  const cut = field.slice(0, charsMax);
  return cut.slice(0, Math.max(0, cut.lastIndexOf(',')));
}
