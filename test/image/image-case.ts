import type { ContainerEngine } from './container-engine.js';
import type { NodeFiles } from './control-plane-node.js';

/** What cases share; those that come later use what earlier ones made. */
export interface Subject {
  readonly engine: ContainerEngine;
  readonly node: NodeFiles;
  /** `straddle:0.1.0`, once it is built. */
  image: string;
  /** The archive with the self-contained folder, and where it is unpacked, once it is made. */
  bundle: string;
  folder: string;
}

export interface ImageCase {
  readonly name: string;
  /** Resolves with details for the output. Throws an error that says what is wrong. */
  run(subject: Subject): Promise<string> | string;
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [is, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== wanted) throw new Error(`${what}: ${is}, expected ${wanted}`);
}

export function expectThat(what: string, holds: boolean): void {
  if (!holds) throw new Error(what);
}
