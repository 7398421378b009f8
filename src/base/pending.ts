/**
 * Tells a promise from a value that is there already. On the path of every request `isPending(x) ? await x : x` stands in
 * place of `await x`: an await suspends the function, and costs a turn of the microtask queue, even for a plain value.
 */
export function isPending<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise;
}
