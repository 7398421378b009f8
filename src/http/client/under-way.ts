/** The longest a timer can be set for; that it ever fires means nothing. */
const FOREVER_MS = 0x7fffffff;

let count = 0;
const held = setInterval(() => {}, FOREVER_MS);
held.unref();

/**
 * Requests under way keep the process alive, idle connections to servers do not. One timer stands for all of them:
 * telling each socket when it is busy would cost every request two calls out of JavaScript.
 */
export const underWay = {
  begin(): void {
    if (count++ === 0) held.ref();
  },
  end(): void {
    if (--count === 0) held.unref();
  },
};
