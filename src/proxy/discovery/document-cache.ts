import type { ReadyDocument } from './ready-document.js';

export interface MadeDocument {
  readonly document: ReadyDocument;
  /** False where a part could not be had: right as far as it goes, and not to be kept. */
  readonly complete: boolean;
}

/**
 * Large documents by a key that changes with their content. The least recently used go when the bound on bytes is
 * reached; whoever asks for one that is being made waits for that one.
 */
export class DocumentCache {
  readonly #bytesMax: number;
  readonly #documents = new Map<string, ReadyDocument>();
  readonly #making = new Map<string, Promise<MadeDocument>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(key: string): boolean {
    return this.#documents.has(key);
  }

  /** A failure is not kept: the next one to ask tries again. */
  async get(key: string, make: () => Promise<MadeDocument>): Promise<MadeDocument> {
    const known = this.#documents.get(key);
    if (known) {
      // Moved to the end: a Map keeps insertion order, which makes it a queue by last use.
      this.#documents.delete(key);
      this.#documents.set(key, known);
      return { document: known, complete: true };
    }
    let making = this.#making.get(key);
    if (!making) {
      making = make()
        .then((made) => {
          if (made.complete) this.#keep(key, made.document);
          return made;
        })
        .finally(() => this.#making.delete(key));
      this.#making.set(key, making);
    }
    return making;
  }

  #keep(key: string, document: ReadyDocument): void {
    if (document.bytes.length > this.#bytesMax) return;
    this.#documents.set(key, document);
    this.#bytes += document.bytes.length;
    for (const [oldest, dropped] of this.#documents) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#documents.delete(oldest);
      this.#bytes -= dropped.bytes.length;
    }
  }
}
