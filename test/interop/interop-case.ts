import type { InteropServer } from './server.js';

export interface InteropCase {
  /** The client first, then the behaviour. */
  readonly name: string;
  /** Throws if the client got another result. Returns text to print beside the name, if any. */
  run(server: InteropServer): Promise<string | undefined>;
}

/** Throws unless both are the same, with a message that names what was compared. */
export function same(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)}, expected ${String(expected)}`);
}
