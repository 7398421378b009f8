import { expect } from 'vitest';
import type { KeyEvent, KeyValue, Watch, WatchBatch } from '../backend.js';
import { StorageError, type StorageErrorCode } from '../storage-error.js';

let prefixes = 0;
/** A corner of the store that no other test touches. */
export function uniquePrefix(): string {
  return `/conformance-${process.pid}-${prefixes++}/`;
}

export const bytes = (text: string): Buffer => Buffer.from(text);
export const keysOf = (items: readonly KeyValue[]): string[] => items.map((item) => item.key.toString());

export async function codeOf(attempt: Promise<unknown>): Promise<StorageErrorCode | 'no error'> {
  return (await errorOf(attempt))?.code ?? 'no error';
}

export async function errorOf(attempt: Promise<unknown>): Promise<StorageError | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(StorageError);
    return error as StorageError;
  }
}

/** Reads until there are that many events, or a batch says that this revision is reached. */
export async function collect(
  watch: Watch,
  until: { events: number } | { revision: number },
): Promise<{ events: KeyEvent[]; revision: number }> {
  const events: KeyEvent[] = [];
  let revision = 0;
  if ('revision' in until) watch.requestProgress();
  for await (const batch of watch) {
    expectInOrder(batch, revision);
    revision = batch.revision;
    events.push(...batch.events);
    if ('events' in until ? events.length >= until.events : revision >= until.revision) break;
    if ('revision' in until) watch.requestProgress();
  }
  return { events, revision };
}

function expectInOrder(batch: WatchBatch, after: number): void {
  let last = after;
  for (const event of batch.events) {
    expect(event.revision).toBeGreaterThanOrEqual(last);
    last = event.revision;
  }
  expect(batch.revision).toBeGreaterThanOrEqual(last);
}

export function brief(event: KeyEvent): string {
  return event.type === 'put'
    ? `put ${event.current.key}=${event.current.value}${event.previous === undefined ? '' : ` was ${event.previous.value}`}`
    : `delete ${event.key} was ${event.previous?.value}`;
}

/** Reads a watch little by little. */
export function readOn(watch: Watch): { seen(count: number): Promise<readonly KeyEvent[]>; close(): void } {
  const batches = watch[Symbol.asyncIterator]();
  const events: KeyEvent[] = [];
  return {
    seen: async (count) => {
      while (events.length < count) {
        const { value } = await batches.next();
        events.push(...(value?.events ?? []));
      }
      return events;
    },
    close: () => watch.close(),
  };
}
