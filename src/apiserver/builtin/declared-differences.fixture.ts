/** A case of test/real/builtin-cases that the embedded server of these versions answers otherwise than the real one. */
export interface DeclaredDifference {
  readonly name: string;
  readonly versions: readonly string[];
  readonly reason: string;
}

/** recorded.test.ts fails for a difference that is not declared here, and for a declared one that is none. */
export const DECLARED_DIFFERENCES: readonly DeclaredDifference[] = [];

/** Shipped versions of which nothing is recorded, with the reason. */
export const NOT_RECORDED: Readonly<Record<string, string>> = {
  '1.33': 'rules that differ between versions are followed from 1.35 on; 1.33 gets those of 1.35',
  '1.34': 'rules that differ between versions are followed from 1.35 on; 1.34 gets those of 1.35',
};
