import { isInstalled, requireProgram } from '../debian-program.js';
import { h2load } from './h2load.js';
import type { Load, Order } from './order.js';
import { ownLoad } from './own.js';

/** h2load where it is installed, else the bundled generator; `STRADDLE_BENCH_LOAD=own` takes the bundled one anyway. */
const usesH2load = process.env['STRADDLE_BENCH_LOAD'] !== 'own' && isInstalled('h2load');

export function http2Load(order: Order): Promise<Load> {
  return usesH2load ? h2load(requireProgram('h2load', 'nghttp2-client'), order) : ownLoad(order);
}
