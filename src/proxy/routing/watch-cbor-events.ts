import { CborError, CborSequence, cborItemEnd, cborValueAt } from '../../base/cbor-wire.js';
import { EVENT_BYTES_MAX, type EventFormat, type EventScanner, type SkimmedEvent, UNFRAMED } from './watch-events.js';

/** `application/cbor-seq`: each event is an item of a CBOR sequence, a map as in JSON. */
export const CBOR_EVENTS: EventFormat = {
  createScanner: () => new ItemScanner(),
  eventEnd: cborItemEnd,
  typeOf: (item) => ifWellFormed(() => textAt(item, ['type'])),
  skim,
};

class ItemScanner implements EventScanner {
  readonly #sequence = new CborSequence(EVENT_BYTES_MAX);

  get lastStart(): number {
    return this.#sequence.lastStart;
  }

  take(piece: Uint8Array): number {
    return ifWellFormed(() => this.#sequence.take(piece)) ?? UNFRAMED;
  }

  reset(): void {
    this.#sequence.reset();
  }
}

/** Reads the type and the resourceVersion of one event; not the one in the row of a Table. */
function skim(item: Buffer): SkimmedEvent {
  const type = ifWellFormed(() => textAt(item, ['type']));
  if (type === undefined) return 'malformed';
  return { type, resourceVersion: ifWellFormed(() => textAt(item, ['object', 'metadata', 'resourceVersion'])) };
}

function textAt(item: Buffer, path: readonly string[]): string | undefined {
  const value = cborValueAt(item, path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function ifWellFormed<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}
