const NAMES_SHOWN_MAX = 5;

/** Returns `a, b, c, d, e and 3 more`. */
export function someNames(names: readonly string[], shownMax = NAMES_SHOWN_MAX): string {
  const more = names.length - shownMax;
  return names.slice(0, shownMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
