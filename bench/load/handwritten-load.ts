import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { GeneratorAnswer, GeneratorOrder, Protocol } from './handwritten-generator.js';
import { type Load, type Order, requireRight } from './order.js';

const PROGRAM = fileURLToPath(new URL('./handwritten-generator.ts', import.meta.url));

/** The bundled generator. Slower than h2load and wrk, for every contestant alike. */
export async function handwrittenLoad(order: Order, protocol: Protocol): Promise<Load> {
  const answer = await new Promise<GeneratorAnswer>((resolve, reject) => {
    const child = fork(PROGRAM, [], { execArgv: ['--import', 'tsx'] });
    child.once('message', resolve);
    child.once('exit', (code, signal) => reject(new Error(`the load process ended with ${code ?? signal}`)));
    child.send({ ...order, protocol } satisfies GeneratorOrder);
  });
  requireRight(order, answer);
  return {
    requests: order.requests,
    requestsPerSecond: order.requests / answer.seconds,
    meanMs: answer.meanMs,
  };
}
