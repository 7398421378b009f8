import type { PageState } from '../../src/proxy/page/page-state.js';
import { asPageState, bounded, type EventName, foldEvent, parseUntrusted } from './fold-event.js';

/** What the browser gives; tests give their own. */
export interface ConnectionSurroundings {
  /** Opens the stream. Calls nothing any more once the returned function was called. */
  openStream(handlers: StreamHandlers): () => void;
  /** Resolves with the text of the state; rejects with a sentence for the reader. */
  fetchState(signal: AbortSignal): Promise<string>;
  /** Returns a function that cancels the timer. */
  later(ms: number, run: () => void): () => void;
  /** Monotonic milliseconds. Need not go on while the machine sleeps. */
  nowMs(): number;
  /** The clock of the browser, which goes on while the machine sleeps, but may be set. */
  wallMs(): number;
  /** From 0 to 1. */
  chance(): number;
}

export interface StreamHandlers {
  onEvent(name: EventName, data: string): void;
  onEnd(): void;
}

/** `polling`: the stream cannot be had, the state can. `lost`: neither, so that what is shown is old. */
export type Phase = 'connecting' | 'live' | 'polling' | 'lost';

export interface Live {
  readonly phase: Phase;
  readonly state: PageState | undefined;
  /** Monotonic time of the last answer. */
  readonly heardAtMs: number;
  /** The same moment by the clock of the browser. */
  readonly heardAtWallMs: number;
  /** To add to monotonic time for the clock of the server. */
  readonly clockOffsetMs: number;
  readonly problem: string | undefined;
}

/** A stream that says nothing for so long is replaced by a new one, which begins with the state: its end may not have been heard. */
export const SILENCE_MS_MAX = 10_000;
/** A stream has an event each second. A verdict is none any more when nothing was heard for longer than this. */
export const FRESH_MS_MAX = 5_000;
export const POLL_EVERY_MS = 5_000;
export const FETCH_MS_MAX = 10_000;
export const RETRY_MS_MIN = 1_000;
export const RETRY_MS_MAX = 30_000;

/** Returns whether what is shown is too old for a verdict, as when the server is gone and its end was not heard. */
export function isOld(live: Live, { nowMs, wallMs }: Readonly<Record<'nowMs' | 'wallMs', number>>): boolean {
  if (live.phase === 'lost') return true;
  const ageMs = Math.max(nowMs - live.heardAtMs, wallMs - live.heardAtWallMs);
  return ageMs > (live.phase === 'polling' ? FRESH_MS_MAX + POLL_EVERY_MS : FRESH_MS_MAX);
}

/** Before anything was heard. */
export const NOTHING_YET: Live = {
  phase: 'connecting',
  state: undefined,
  heardAtMs: 0,
  heardAtWallMs: 0,
  clockOffsetMs: 0,
  problem: undefined,
};

/** Keeps a copy of the state: by the stream, by polling where there is no stream, and tries again while there is neither. */
export class Connection {
  readonly #with: ConnectionSurroundings;
  readonly #onChange: (live: Live) => void;
  #live: Live = NOTHING_YET;
  #closeStream: (() => void) | undefined;
  #cancelSilence: () => void = () => {};
  #cancelPoll: () => void = () => {};
  #cancelRetry: () => void = () => {};
  #asking: AbortController | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(surroundings: ConnectionSurroundings, onChange: (live: Live) => void) {
    this.#with = surroundings;
    this.#onChange = onChange;
  }

  get live(): Live {
    return this.#live;
  }

  /** Opens the stream now, whatever is waited for, unless there is one that is heard. */
  tryNow(): void {
    const now = { nowMs: this.#with.nowMs(), wallMs: this.#with.wallMs() };
    if (this.#isClosed || (this.#live.phase === 'live' && !isOld(this.#live, now))) return;
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopAll();
  }

  #open(): void {
    this.#stopAll();
    this.#cancelSilence = this.#with.later(FETCH_MS_MAX, () => this.#fail());
    let isMine = true;
    const close = this.#with.openStream({
      onEvent: (name, data) => {
        if (isMine) this.#accept(name, data);
      },
      onEnd: () => {
        if (isMine) this.#fail();
      },
    });
    this.#closeStream = () => {
      isMine = false;
      close();
    };
  }

  #accept(name: EventName, data: string): void {
    try {
      this.#apply(name, data);
    } catch (error) {
      this.#fail(messageOf(error));
      return;
    }
    this.#awaitEvents();
  }

  #apply(name: EventName, data: string): void {
    const value = parseUntrusted(data);
    const { state } = this.#live;
    if (name === 'state') {
      this.#failures = 0;
      this.#heard('live', asPageState(value));
    } else if (name === 'alive') {
      const { atMs } = value as { readonly atMs?: unknown };
      const offset = typeof atMs === 'number' ? { clockOffsetMs: atMs - this.#with.nowMs() } : {};
      this.#change({ ...this.#justHeard(), ...offset });
    } else if (state !== undefined) {
      this.#change({ state: foldEvent(state, name, value), ...this.#justHeard() });
    }
  }

  #heard(phase: Phase, state: PageState): void {
    const heard = this.#justHeard();
    const clockOffsetMs = state.atMs - heard.heardAtMs;
    this.#change({ phase, state: bounded(state), ...heard, clockOffsetMs, problem: undefined });
  }

  #justHeard(): Pick<Live, 'heardAtMs' | 'heardAtWallMs'> {
    return { heardAtMs: this.#with.nowMs(), heardAtWallMs: this.#with.wallMs() };
  }

  #awaitEvents(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#with.later(SILENCE_MS_MAX, () => this.#open());
  }

  /** The stream is of no use: asks for the state, and opens another stream after a while. */
  #fail(problem?: string): void {
    this.#stopAll();
    this.#failures += 1;
    const longest = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (this.#failures - 1));
    this.#cancelRetry = this.#with.later(longest * (0.75 + this.#with.chance() / 4), () => this.#open());
    void this.#poll(problem);
  }

  async #poll(problem?: string): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    const cancelTimeout = this.#with.later(FETCH_MS_MAX, () =>
      asking.abort(new Error(`no answer in ${FETCH_MS_MAX / 1_000} s`)),
    );
    try {
      const text = await this.#with.fetchState(asking.signal);
      if (this.#asking !== asking) return;
      this.#heard('polling', asPageState(parseUntrusted(text)));
      this.#cancelPoll = this.#with.later(POLL_EVERY_MS, () => void this.#poll());
    } catch (error) {
      if (this.#asking === asking) this.#change({ phase: 'lost', problem: problem ?? messageOf(error) });
    } finally {
      cancelTimeout();
    }
  }

  #stopAll(): void {
    this.#closeStream?.();
    this.#closeStream = undefined;
    this.#asking?.abort();
    this.#asking = undefined;
    this.#cancelSilence();
    this.#cancelPoll();
    this.#cancelRetry();
  }

  #change(changes: Partial<Live>): void {
    if (this.#isClosed) return;
    this.#live = { ...this.#live, ...changes };
    this.#onChange(this.#live);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
