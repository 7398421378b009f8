import type { FairLimiter, Flow, Release } from './fair-limiter.js';

/** The limits that client requests share. docs/reference/limits.md lists each with its default and metric. */
export interface SharedLimits {
  /** Requests in flight. */
  readonly places: FairLimiter;
  /** Requests in flight that other servers of the control plane make for themselves: reading discovery, probing. */
  readonly peerPlaces: FairLimiter;
  /** Watches and other long-running requests, which leave their place in flight when their reply begins. */
  readonly longRunning: FairLimiter;
  /** Bytes of request bodies and replies that are held in memory as a whole. */
  readonly memory: FairLimiter;
}

/** The part of an exchange that a holding depends on. */
export interface HoldingOwner {
  onAbort(listener: () => void): () => void;
  onOver(listener: () => void): void;
}

/**
 * One request's share of the limits. Everything is given back when the exchange is over, which is when its reply has been
 * sent or its client has gone.
 */
export class Holding {
  readonly #owner: HoldingOwner;
  readonly #flow: Flow;
  readonly #places: FairLimiter;
  readonly #memory: FairLimiter;
  #place: Release | undefined;
  #others: Release[] | undefined;
  #hasMemory = false;
  #over = false;

  constructor(owner: HoldingOwner, flow: Flow, limits: { places: FairLimiter; memory: FairLimiter }) {
    this.#owner = owner;
    this.#flow = flow;
    this.#places = limits.places;
    this.#memory = limits.memory;
    owner.onOver(() => this.#releaseAll());
  }

  /** Takes the place in flight; a promise only where that has to be waited for. Throws or rejects with 429. */
  enter(): Promise<void> | undefined {
    const place = this.#places.acquire(this.#flow, this.#onAbort);
    if (typeof place === 'function') {
      this.#enterWith(place);
      return undefined;
    }
    return place.then((release) => this.#enterWith(release));
  }

  leave(): void {
    this.#place?.();
    this.#place = undefined;
  }

  /** Counts the exchange against a further limit until it is over. Throws 429 where that limit is reached. */
  async hold(limiter: FairLimiter): Promise<void> {
    this.#keep(await limiter.acquire(this.#flow, this.#onAbort));
  }

  /** Waits for the client without a place in flight: how long that takes is in the client's hands. */
  async awaitClient<Result>(wait: Promise<Result>): Promise<Result> {
    this.leave();
    const result = await wait;
    await this.enter();
    return result;
  }

  /** Reserves memory if that is possible without a wait; false where the caller's share is used up. */
  tryReserve(bytes: number): boolean {
    const release = this.#memory.tryAcquire(this.#flow, bytes);
    if (release) this.#keepMemory(release);
    return release !== undefined;
  }

  /**
   * Reserves memory, after a wait where necessary. Throws or rejects with 429. A request that has memory does not wait for
   * more of it: requests of one caller, or a single one, would wait for what they hold themselves.
   */
  reserve(bytes: number): Promise<void> | undefined {
    if (this.#hasMemory) {
      this.reserveAtOnce(bytes);
      return undefined;
    }
    const reserved = this.#memory.acquire(this.#flow, this.#onAbort, bytes);
    if (typeof reserved !== 'function') return reserved.then((release) => this.#keepMemory(release));
    this.#keepMemory(reserved);
    return undefined;
  }

  /** Reserves memory that cannot be refused, such as for the reply to a write that has been stored. */
  reserveAtOnce(bytes: number): void {
    this.#keepMemory(this.#memory.overdraw(this.#flow, bytes));
  }

  #enterWith(release: Release): void {
    if (this.#over) release();
    else this.#place = release;
  }

  #keepMemory(release: Release): void {
    this.#hasMemory = true;
    this.#keep(release);
  }

  #keep(release: Release): void {
    if (this.#over) release();
    else if (this.#others) this.#others.push(release);
    else this.#others = [release];
  }

  #releaseAll(): void {
    this.#over = true;
    this.leave();
    if (this.#others) for (const release of this.#others) release();
    this.#others = undefined;
  }

  #onAbort = (listener: () => void): (() => void) => this.#owner.onAbort(listener);
}
