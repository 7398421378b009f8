import { setTimeout as delay } from 'node:timers/promises';
import { call, type Endpoint, keepAliveAgent } from './http-client.js';

const INTERVAL_MS = 50;

/** Asks the same thing over and over and keeps how the status changed: `['404', '200', '404']`. */
export class StatusTrail {
  readonly changes: string[] = [];
  /** Answers that the caller's check refused. */
  readonly wrong: string[] = [];
  private stopped = false;
  private readonly agent = keepAliveAgent(1);
  private readonly running: Promise<void>;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly path: string,
    private readonly check: (status: number, text: string) => boolean,
  ) {
    this.running = this.run();
  }

  get current(): string | undefined {
    return this.changes.at(-1);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
    this.agent.destroy();
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const answer = await call(this.endpoint, this.path, { agent: this.agent }).catch((error: Error) => ({
        status: 0,
        text: error.message,
      }));
      if (this.current !== String(answer.status)) this.changes.push(String(answer.status));
      if (!this.check(answer.status, answer.text)) this.wrong.push(`${answer.status} ${answer.text.slice(0, 200)}`);
      await delay(INTERVAL_MS);
    }
  }
}
