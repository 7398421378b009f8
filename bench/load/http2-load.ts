import { generatorPath } from './generator.js';
import { h2load } from './h2load.js';
import { handwrittenLoad } from './handwritten-load.js';
import type { Load, Order } from './order.js';

/** h2load where it is installed, else the bundled generator. */
export function http2Load(order: Order): Promise<Load> {
  const program = generatorPath('h2load');
  return program === undefined ? handwrittenLoad(order, 'h2') : h2load(program, order);
}
