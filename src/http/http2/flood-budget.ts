import type { ConnectionClock } from '../../http2/limits.js';
import { ConnectionError, ErrorCode } from './protocol.js';

/** What a client may cause for nothing, in a burst and for ever. */
const TOKENS_MIN = 2_000;
const TOKENS_PER_STREAM = 8;
const TOKENS_PER_MS = 0.2;

/** A frame that moves nothing on: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, an empty DATA, one for a closed stream. */
export const IDLE_FRAME_COST = 1;
/** A request that was begun and taken back, or that had to be reset (CVE-2023-44487, CVE-2025-8671). */
export const BROKEN_STREAM_COST = 4;
/** What an answer that reached its end gives back. */
export const ANSWER_EARNS = 2;
/** Clients may give back both windows for every DATA frame, and some do so every few kilobytes. */
export const DATA_FRAME_EARNS = 2;
export const BYTES_PER_TOKEN = 512;
/** Frames that are so short because the client's window is: they earn nothing, or it could pay for one with the other. */
export const DRIBBLE_BYTES = 64;

/**
 * Bounds the work that a client causes without getting anything for it. Progress gives tokens back, and so does time;
 * the clock is read only when there are none left.
 */
export class FloodBudget {
  readonly #clock: ConnectionClock;
  readonly #tokensMax: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(clock: ConnectionClock, streamsMax: number) {
    this.#clock = clock;
    this.#tokensMax = TOKENS_MIN + TOKENS_PER_STREAM * streamsMax;
    this.#tokens = this.#tokensMax;
    this.#filledAtMs = clock.nowMs();
  }

  spend(tokens: number): void {
    this.#tokens -= tokens;
    if (this.#tokens >= 0) return;
    const nowMs = this.#clock.nowMs();
    this.earn((nowMs - this.#filledAtMs) * TOKENS_PER_MS);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 0) throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many frames for too little');
  }

  earn(tokens: number): void {
    this.#tokens = Math.min(this.#tokensMax, this.#tokens + tokens);
  }
}
