import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { fileProblem } from '../../base/file-problem.js';
import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';

/** A captured file that this version cannot use. The message is one sentence with the file and the next step. */
export class SurfaceFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SurfaceFormatError';
  }
}

/** What tells the files of one purpose from others. */
export interface CapturedFormat {
  /** `surface`: the purpose, for messages. */
  readonly name: string;
  /** The member of the file that has the number of its format. */
  readonly member: string;
  readonly number: number;
  /** The command that writes such files. */
  readonly command: string;
}

export interface FileOrigin {
  /** Named in messages. */
  readonly file: string;
  /** What to do about a damaged file, as the end of a sentence. */
  readonly remedy: string;
}

/**
 * Reads a file of the operator, or one that ships with Straddle, which may be compressed (`.gz`). Rejects with
 * SurfaceFormatError if it cannot be read or has too many bytes.
 */
export async function readBounded(file: string, bytesMax: number, { command }: CapturedFormat): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // `end` is the last byte that is read: one more than there may be.
    for await (const chunk of file.endsWith('.gz') ? unpacked(file) : createReadStream(file, { end: bytesMax })) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) break;
    }
  } catch (error) {
    throw new SurfaceFormatError(`${file} cannot be used (${fileProblem(error)}).`);
  }
  if (bytes > bytesMax) {
    throw new SurfaceFormatError(`${file} has more than ${bytesMax} bytes: give a file that ${command} wrote.`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A whole surface in one piece: each piece is a turn of the thread pool. */
const UNPACKED_CHUNK_BYTES = 512 * 1024;

function unpacked(file: string): AsyncIterable<unknown> {
  const packed = createReadStream(file);
  const gunzip = createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES });
  packed.once('error', (error) => gunzip.destroy(error));
  gunzip.once('close', () => packed.destroy());
  return packed.pipe(gunzip);
}

/** Parses a whole file of that format; its content is not checked. Throws SurfaceFormatError. */
export function parseCaptured(text: string, { file, remedy }: FileOrigin, format: CapturedFormat): JsonObject {
  if (text.trim() === '') throw new SurfaceFormatError(`${file} is empty: ${remedy}.`);
  const value = parseJson(text, { file, remedy });
  const number = isObject(value) ? member(value, format.member) : undefined;
  if (!isObject(value) || typeof number !== 'number' || !Number.isInteger(number) || number < format.number) {
    throw new SurfaceFormatError(
      `${file} is not a ${format.name} file of format ${format.number}: give one that ${format.command} of this version wrote.`,
    );
  }
  if (number > format.number) {
    throw new SurfaceFormatError(
      `${file} has the ${format.name} format ${number} of a newer Straddle, and this one reads format ${format.number}: run that newer Straddle, or ${remedy}.`,
    );
  }
  return value;
}

function parseJson(text: string, { file, remedy }: FileOrigin): Json {
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
