import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./neighbour-process.fixture.ts', import.meta.url));

/** A process of neighbour-process.fixture.ts and what it has said. */
export class NeighbourProcess {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = '';
  #waiting: { lines: number; resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(...args: [dataDir: string, role: 'storm' | 'echo', argument: string]) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, ...args], { stdio: 'pipe' });
    this.#child.stderr?.on('data', (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-4000);
    });
    const reader = createInterface(this.#child.stdout!);
    reader.on('line', (line) => {
      this.lines.push(line);
      this.#settle(false);
    });
    // All that it said before its end is read before this resolves.
    this.#ended = new Promise((resolve) => {
      reader.on('close', () => {
        this.#settle(true);
        resolve();
      });
    });
  }

  /** Resolves when it has said that many lines in all; rejects if it ends before. */
  said(lines: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lines, resolve, reject });
      this.#settle(false);
    });
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async finish(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  #settle(ended: boolean): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((wait) => this.lines.length < wait.lines && !ended);
    for (const wait of waiting) {
      if (this.lines.length >= wait.lines) wait.resolve();
      else if (ended) wait.reject(new Error(`the process ended early: ${this.#errors}`));
    }
  }
}
