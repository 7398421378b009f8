/**
 * Header fields as they came over the wire: name, value, name, value, … in order, names in the sender's spelling.
 * A proxy must not fold, sort or re-encode them, so nothing here turns them into a map.
 */
export type RawHeaders = readonly string[];

/** Returns the first value of a field, by its lower-case name. */
export function headerValue(headers: RawHeaders, lowerName: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) return headers[i + 1];
  }
  return undefined;
}

/** Returns every value of a field, in order. */
export function headerValues(headers: RawHeaders, lowerName: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) values.push(headers[i + 1]!);
  }
  return values;
}

/** Returns all values of a list field as one list; undefined if the field is absent. */
export function headerList(headers: RawHeaders, lowerName: string): string | undefined {
  const values = headerValues(headers, lowerName);
  return values.length === 0 ? undefined : values.join(',');
}

/** Returns the fields that pass `keep`, which gets the lower-case name. */
export function filterHeaders(headers: RawHeaders, keep: (lowerName: string) => boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (keep(headers[i]!.toLowerCase())) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

/** Returns the size of a header list as HTTP/2 counts it (RFC 9113, 10.5.1): 32 bytes for each field besides its octets. */
export function headListBytes(headers: RawHeaders): number {
  let bytes = headers.length * (HEADER_FIELD_BYTES / 2);
  for (const part of headers) bytes += part.length;
  return bytes;
}

/** About what a field costs in memory, too, beyond its octets. */
export const HEADER_FIELD_BYTES = 32;

/** Returns the size, counted in the same way, of the largest head within both bounds. */
export function headListBytesMax(bounds: {
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
}): number {
  return bounds.headerBytesMax + bounds.headersCountMax * HEADER_FIELD_BYTES;
}

/** RFC 9110, 7.6.1: fields of one connection only. `te` is handled separately: `trailers` may pass. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/**
 * Returns the names of hop-by-hop fields: the fixed ones and those in the `Connection` field of the
 * message. In the common case (only `keep-alive` or `close`) it returns the shared set.
 */
export function hopByHopNames(headers: RawHeaders): ReadonlySet<string> {
  let listed: Set<string> | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length !== 10 || headers[i]!.toLowerCase() !== 'connection') continue;
    for (const part of headers[i + 1]!.split(',')) {
      const name = part.trim().toLowerCase();
      if (name === '' || name === 'close' || HOP_BY_HOP.has(name)) continue;
      listed ??= new Set(HOP_BY_HOP);
      listed.add(name);
    }
  }
  return listed ?? HOP_BY_HOP;
}
