import type { ReadyDocument } from '../../http/ready-document.js';

export interface MadeDocument {
  readonly document: ReadyDocument;
  /** False if a part is missing: the document is valid, but is not cached. */
  readonly complete: boolean;
}

/**
 * Caches large documents by a key that changes with their content. Evicts the least recently used
 * at the bound on bytes. Concurrent calls for one key share one document in the making.
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

  /** Returns a document, made by `make` if it is not cached. Failures are not cached. */
  async get(key: string, make: () => Promise<MadeDocument>): Promise<MadeDocument> {
    const known = this.#documents.get(key);
    if (known) {
      // Moved to the end: a Map keeps insertion order, which makes it an LRU list.
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
