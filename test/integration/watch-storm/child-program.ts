import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program beside this file, in its own process: it gets its task as its argument, orders and answers are lines of JSON. */
export class ChildProgram {
  readonly #child: ChildProcess;
  readonly #answers: unknown[] = [];
  #waiting: { resolve(answer: unknown): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;

  constructor(
    readonly name: string,
    task: object,
  ) {
    const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
    this.#child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(task)], { stdio: 'pipe' });
    let errors = '';
    this.#child.stderr?.on('data', (chunk) => {
      errors = (errors + chunk).slice(-4000);
    });
    createInterface(this.#child.stdout!)
      .on('line', (line) => this.#take(JSON.parse(line)))
      .on('close', () => this.#fail(new Error(`${name} ended: ${errors}`)));
  }

  tell(order: string): void {
    this.#child.stdin?.write(`${order}\n`);
  }

  /** Resolves with the next message. One caller at a time. */
  answer<T>(): Promise<T> {
    const next = this.#answers.shift();
    if (next !== undefined) return Promise.resolve(next as T);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve: resolve as (answer: unknown) => void, reject };
    });
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  #take(answer: unknown): void {
    if (this.#waiting) this.#waiting.resolve(answer);
    else this.#answers.push(answer);
    this.#waiting = undefined;
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#waiting?.reject(error);
  }
}

/** Resources used by the program so far. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** For the program's side: its task, its orders, its answers. It ends with its parent. */
export function childSide<Task>(onOrder: (order: string) => unknown): { task: Task; say(answer: object): void } {
  createInterface(process.stdin)
    .on('line', (order) => void onOrder(order))
    .on('close', () => process.exit(0));
  return {
    task: JSON.parse(process.argv[2]!) as Task,
    say: (answer) => void process.stdout.write(`${JSON.stringify(answer)}\n`),
  };
}
