/**
 * What is done to both servers. A text is a kubectl command line (arguments between single quotes keep their spaces), run
 * in a folder with the manifests.
 */
export type Step = string | AsUser | Filled | Watched;

/** By someone who has no rights but those that a step gave. */
export interface AsUser {
  readonly alice: string;
}

/** Puts the uids of objects, which differ, into a manifest: `{{uid deployment/web}}`. */
export interface Filled {
  readonly fill: string;
}

/** A command that goes on while others run; stopped when it has printed so many lines. */
export interface Watched {
  readonly watch: string;
  readonly during: readonly Step[];
  readonly lines: number;
}

export function argumentsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([each]) => each.replaceAll("'", ''));
}
