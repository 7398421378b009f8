import type { ConnectionClock } from './http2-limits.js';
import { ConnectionError, ErrorCode } from './protocol.js';

/** Size of the token bucket (a burst) and its refill rate (sustained). */
const TOKENS_MIN = 2_000;
const TOKENS_PER_STREAM = 8;
const TOKENS_PER_MS = 0.2;

/**
 * Cost of a frame without progress: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, any frame
 * on a closed stream.
 */
export const IDLE_FRAME_COST = 1;
/** Cost of a stream reset by or because of the client (CVE-2023-44487, CVE-2025-8671). */
export const BROKEN_STREAM_COST = 4;
/** Tokens earned by a complete response. */
export const ANSWER_EARNS = 2;
/**
 * Pays for two WINDOW_UPDATEs (connection and stream), which clients may send for every DATA frame.
 */
export const DATA_FRAME_EARNS = 2;
export const BYTES_PER_TOKEN = 512;
/**
 * Shorter DATA frames, cut by a nearly empty flow-control window, earn nothing: otherwise they
 * would pay for the WINDOW_UPDATEs that cause them.
 */
export const DRIBBLE_BYTES = 64;

/**
 * Token bucket against floods of frames that cause work without progress. Progress and time refill
 * it; the clock is read only when the bucket is empty.
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
    if (this.#tokens < 0)
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'flood: too many frames without progress');
  }

  earn(tokens: number): void {
    this.#tokens = Math.min(this.#tokensMax, this.#tokens + tokens);
  }
}
