import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a file of this folder as a process of its own, which gets `order` as its one message and answers with one. */
export function inProcess<Order extends object, Answer>(file: string, order: Order): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
      execArgv: ['--expose-gc', '--import', 'tsx'],
    });
    child.once('message', (answer) => resolve(answer as Answer));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code} before it answered`)));
    child.send(order);
  });
}
