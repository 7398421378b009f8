import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Passthrough, PassthroughState, PassthroughSwitched, WantedPassthrough } from './passthrough.js';
import { PassthroughFile, type SeenFile } from './passthrough-file.js';

export interface PassthroughSwitchOptions {
  /** The file that keeps the state and switches too; undefined for none. */
  readonly file: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of the log line while passthrough is on: protection that is off must not be forgotten. */
const REMINDER_MS = 60_000;

const NO_FILE = 'there is no --passthrough-file and no --state-dir';

/** The panic switch of a process by itself, or of the head of a group. */
export class PassthroughSwitch implements Passthrough {
  readonly #options: PassthroughSwitchOptions;
  readonly #file: PassthroughFile | undefined;
  readonly #listeners = new Set<(state: PassthroughState) => void>();
  #state: PassthroughState;
  #cancelReminder = () => {};

  private constructor(options: PassthroughSwitchOptions) {
    this.#options = options;
    const { file, clock, logger } = options;
    this.#state = { on: false, sinceMs: clock.nowMs(), reason: '' };
    if (file) this.#file = new PassthroughFile({ path: file, clock, logger, onChange: (seen) => this.#follow(seen) });
  }

  /** Resolves with the state of the file in effect, so that no request is served in another one. Never rejects. */
  static async open(options: PassthroughSwitchOptions): Promise<PassthroughSwitch> {
    const opened = new PassthroughSwitch(options);
    await opened.#file?.start();
    return opened;
  }

  get state(): PassthroughState {
    return this.#state;
  }

  /** Calls back after each change, in the same turn. */
  onChange(listener: (state: PassthroughState) => void): void {
    this.#listeners.add(listener);
  }

  /** Switches at once; the file follows. */
  async set({ on, reason, by }: WantedPassthrough): Promise<PassthroughSwitched> {
    this.#become({ on, sinceMs: this.#options.clock.nowMs(), reason }, { by });
    const notKept = this.#file ? await this.#file.write(on ? this.#state.reason : undefined) : NO_FILE;
    if (notKept !== undefined) this.#options.logger.warn('passthrough does not survive a restart', { why: notKept });
    return { state: this.#state, notKept };
  }

  async close(): Promise<void> {
    this.#cancelReminder();
    this.#file?.close();
  }

  #follow(seen: SeenFile): void {
    const nowMs = this.#options.clock.nowMs();
    const by = `file ${this.#file?.path}`;
    if (!seen.exists) this.#become({ on: false, sinceMs: nowMs, reason: '' }, { by });
    else this.#become({ on: true, sinceMs: Math.min(seen.changedAtMs, nowMs), reason: seen.reason }, { by });
  }

  /** A further order for the same state changes its reason, if it has one, and not the time of the switch. */
  #become(wanted: PassthroughState, { by }: { readonly by: string }): void {
    const { on, sinceMs, reason } = this.#state;
    const isSwitch = wanted.on !== on;
    if (!isSwitch && (!on || wanted.reason === '' || wanted.reason === reason)) return;
    this.#state = isSwitch ? wanted : { on, sinceMs, reason: wanted.reason };
    if (isSwitch) this.#logSwitch(by);
    for (const listener of this.#listeners) listener(this.#state);
  }

  #logSwitch(by: string): void {
    const { logger } = this.#options;
    const { on, reason } = this.#state;
    this.#cancelReminder();
    if (on) {
      logger.warn('passthrough is on: protection is switched off, every request is served by the local server', {
        by,
        reason,
      });
      this.#remindLater();
    } else logger.warn('passthrough is off: requests are rerouted and documents merged again', { by });
  }

  #remindLater(): void {
    const { clock, logger } = this.#options;
    this.#cancelReminder = clock.after(REMINDER_MS, () => {
      const { sinceMs, reason } = this.#state;
      logger.warn('passthrough is still on: protection is switched off until straddle passthrough off', {
        since: new Date(sinceMs).toISOString(),
        reason,
      });
      this.#remindLater();
    });
  }
}
