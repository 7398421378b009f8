/** As much DER as a certificate needs (ITU-T X.690). */

export const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
export const set = (...parts: readonly Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts));
export const octets = (value: Buffer): Buffer => tagged(0x04, value);
export const utf8 = (value: string): Buffer => tagged(0x0c, Buffer.from(value, 'utf8'));
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
/** [n] EXPLICIT. */
export const explicit = (n: number, ...parts: readonly Buffer[]): Buffer => tagged(0xa0 | n, Buffer.concat(parts));
/** [n] IMPLICIT of a primitive. */
export const implicit = (n: number, value: Buffer): Buffer => tagged(0x80 | n, value);
export const bits = (value: Buffer, unused = 0): Buffer => tagged(0x03, Buffer.concat([Buffer.from([unused]), value]));

/** A positive number, big endian. */
export function integer(value: Buffer): Buffer {
  const needsSign = ((value[0] ?? 0) & 0x80) !== 0;
  return tagged(0x02, needsSign ? Buffer.concat([Buffer.from([0]), value]) : value);
}

/** UTCTime: good until 2049. */
export function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...others.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const bytes = [arc & 0x7f];
  for (let rest = arc >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
}

function length(value: number): number[] {
  if (value < 0x80) return [value];
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}
