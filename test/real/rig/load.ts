import { performance } from 'node:perf_hooks';

/** Result of one request of a load. */
export interface Outcome {
  readonly index: number;
  /** 0 when there was no answer. */
  readonly status: number;
  readonly text: string;
  readonly error?: string;
  readonly startedMs: number;
  readonly tookMs: number;
}

export interface LoadOptions {
  readonly ratePerSecond: number;
  readonly send: (index: number) => Promise<{ status: number; text: string }>;
  /** Beyond this many unanswered requests the load waits; the rate is then lower than asked for. */
  readonly inFlightMax?: number;
}

const IN_FLIGHT_MAX = 200;
const TICK_MS = 10;

/** Requests at a steady rate, whatever becomes of the earlier ones, until `stop`. */
export class Load {
  readonly outcomes: Outcome[] = [];
  private readonly inFlight = new Set<Promise<void>>();
  private readonly startedMs = performance.now();
  private readonly timer: NodeJS.Timeout;
  private sent = 0;

  constructor(private readonly options: LoadOptions) {
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** How many answers there are that the filter accepts. */
  count(filter: (outcome: Outcome) => boolean = () => true): number {
    return this.outcomes.filter(filter).length;
  }

  /** Stops sending, waits for requests in flight, returns all results. */
  async stop(): Promise<readonly Outcome[]> {
    clearInterval(this.timer);
    await Promise.all(this.inFlight);
    return this.outcomes;
  }

  private tick(): void {
    const due = Math.floor(((performance.now() - this.startedMs) / 1000) * this.options.ratePerSecond);
    while (this.sent < due && this.inFlight.size < (this.options.inFlightMax ?? IN_FLIGHT_MAX)) {
      const running = this.one(this.sent++).finally(() => this.inFlight.delete(running));
      this.inFlight.add(running);
    }
    // Requests that could not be sent in time are not sent later in one burst.
    this.sent = Math.max(this.sent, due);
  }

  private async one(index: number): Promise<void> {
    const startedMs = performance.now();
    const outcome = await this.options.send(index).catch((error: NodeJS.ErrnoException) => ({
      status: 0,
      text: '',
      error: `${error.code ?? ''} ${error.message}`.trim(),
    }));
    this.outcomes.push({ index, ...outcome, startedMs, tookMs: performance.now() - startedMs });
  }
}

/** For a message: how often which status or error, with one example of each. */
export function summary(outcomes: readonly Outcome[]): string {
  const kinds = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const kind = outcome.error === undefined ? String(outcome.status) : `no answer (${outcome.error})`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), outcome]);
  }
  return [...kinds]
    .map(([kind, members]) => `${members.length} × ${kind}${kind.startsWith('2') ? '' : details(members)}`)
    .join('; ');
}

function details(members: readonly Outcome[]): string {
  const when = members.slice(0, 10).map(({ startedMs, tookMs }) => `${startedMs.toFixed(0)}+${tookMs.toFixed(0)}`);
  return ` ${members[0]?.text.slice(0, 300)} (at ms + took ms: ${when.join(' ')})`;
}
