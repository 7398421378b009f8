import { nearest } from '../../compose/config/nearest.js';

/** Throws for a member with another name than these. */
export function checkKeys(where: string, given: object, known: readonly string[]): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const similar = nearest(key, known);
    const hint = similar === undefined ? `there are ${known.join(', ')}` : `did you mean ${similar}?`;
    throw new Error(`${where}: there is no ${key}; ${hint}${hint.endsWith('?') ? '' : '.'}`);
  }
}

/** Returns a value as messages show it. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : (JSON.stringify(value) ?? String(value));
}
