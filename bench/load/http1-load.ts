import { generatorPath } from './generator.js';
import { handwrittenLoad } from './handwritten-load.js';
import type { Load, Order } from './order.js';
import { wrk } from './wrk.js';

/**
 * wrk where it is installed, else the bundled generator. wrk cannot be told a number of requests: it goes on for
 * `seconds`, the bundled one until the order's requests are answered.
 */
export function http1Load(order: Order, seconds: number): Promise<Load> {
  const program = generatorPath('wrk');
  return program === undefined ? handwrittenLoad(order, 'http/1.1') : wrk(program, order, seconds);
}
