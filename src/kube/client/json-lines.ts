/** Splits a stream of bytes into lines of JSON of bounded length. */
export class JsonLines {
  readonly #lineBytesMax: number;
  #parts: Uint8Array[] = [];
  #partBytes = 0;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** Yields each value completed by this chunk. Throws on invalid JSON and on too long a line. */
  *push(chunk: Uint8Array): Generator<unknown> {
    let start = 0;
    for (let end = chunk.indexOf(10, start); end >= 0; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const line = Buffer.concat(this.#parts, this.#partBytes).toString('utf8').trim();
      this.#parts = [];
      this.#partBytes = 0;
      if (line !== '') yield parse(line);
    }
    if (start < chunk.byteLength) this.#keep(chunk.subarray(start));
  }

  #keep(part: Uint8Array): void {
    this.#partBytes += part.byteLength;
    if (this.#partBytes > this.#lineBytesMax) throw new Error(`a line is longer than ${this.#lineBytesMax} bytes`);
    this.#parts.push(part);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error('a line is not JSON');
  }
}
