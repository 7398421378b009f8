/** The result of one check before an installation. `fail` stops it. */
export interface Finding {
  readonly verdict: 'ok' | 'warn' | 'FAIL';
  readonly check: string;
  readonly sentence: string;
}

/** Returns functions that add findings of one check to a list. */
export function findingsOf(check: string, into: Finding[]) {
  const add = (verdict: Finding['verdict']) => (sentence: string) => {
    into.push({ verdict, check, sentence });
  };
  return { ok: add('ok'), warn: add('warn'), fail: add('FAIL') };
}
