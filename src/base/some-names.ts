const NAMES_SHOWN_MAX = 5;

/** Returns `a, b, c, d, e and 3 more`. */
export function someNames(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN_MAX;
  return names.slice(0, NAMES_SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
