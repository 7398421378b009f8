/** Longest delay of a timer; its callback does nothing. */
const FOREVER_MS = 0x7fffffff;

let count = 0;
const held = setInterval(() => {}, FOREVER_MS);
held.unref();

/**
 * Counts open requests, which keep the process alive; idle connections to servers do not. One timer
 * is ref'd for all of them: ref() and unref() on each socket would cost every request two calls
 * into C++.
 */
export const underWay = {
  begin(): void {
    if (count++ === 0) held.ref();
  },
  end(): void {
    if (--count === 0) held.unref();
  },
};
