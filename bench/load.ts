import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadAnswer, LoadOrder } from './load-process.js';

const PROGRAM = fileURLToPath(new URL('./load-process.ts', import.meta.url));

/** Rejects where any answer was wrong: a fast wrong answer is no result. */
export function load(order: LoadOrder): Promise<LoadAnswer> {
  return new Promise((resolve, reject) => {
    const child = fork(PROGRAM, [], { execArgv: ['--import', 'tsx'] });
    let answered = false;
    child.once('message', (answer: LoadAnswer) => {
      answered = true;
      if (answer.wrong.length === 0) resolve(answer);
      else reject(new Error(`${order.method} ${order.path}: wrong answers: ${answer.wrong.join(' | ')}`));
    });
    child.once('exit', (code) => {
      if (!answered) reject(new Error(`the load process ended with ${code}`));
    });
    child.send(order);
  });
}
