/** Returns the raw path of a request target: everything before the first `?`. */
export function rawPath(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** Returns the raw query of a target, everything after the first `?`; it may contain `?`. */
export function rawQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}
