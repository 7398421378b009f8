import type { Caller, FairLimiter, Flow, Release } from './fair-limiter.js';

/** The limits that client requests share; docs/reference/limits.md has defaults and metrics. */
export interface SharedLimits {
  /** Requests in flight. */
  readonly places: FairLimiter;
  /** Requests in flight of other servers on their own behalf: discovery, probes. */
  readonly peerPlaces: FairLimiter;
  /** Long-running requests, which give up their place in flight when their reply begins. */
  readonly longRunning: FairLimiter;
  /** Bytes of request bodies and replies that are held in memory as a whole. */
  readonly memory: FairLimiter;
}

/** The part of an exchange that a holding needs. */
export interface HoldingOwner extends Caller {
  readonly isOver: boolean;
}

/**
 * One request's share of the limits. Everything is released when the exchange is over: its reply
 * has been sent, or its client has disconnected. An acquisition after that is released at once.
 */
export class Holding {
  readonly #owner: HoldingOwner;
  readonly #flow: Flow;
  readonly #places: FairLimiter;
  readonly #memory: FairLimiter;
  #place: Release | undefined;
  #others: Release[] | undefined;
  #head: Release | undefined;
  #hasMemory = false;

  constructor(owner: HoldingOwner, flow: Flow, limits: { places: FairLimiter; memory: FairLimiter }) {
    this.#owner = owner;
    this.#flow = flow;
    this.#places = limits.places;
    this.#memory = limits.memory;
  }

  /** Acquires the place in flight; a promise only for a wait. Throws or rejects with 429. */
  enter(): Promise<void> | undefined {
    const place = this.#places.acquire(this.#flow, this.#owner);
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

  /**
   * Gives up the place and the memory of the head when a long-running reply begins: a user's own watches must not keep his requests
   * waiting. The listener goes on counting the head.
   */
  stream(): void {
    this.leave();
    this.#head?.();
    this.#head = undefined;
  }

  /** Counts the exchange against a further limit until it is over. Rejects with 429. */
  async hold(limiter: FairLimiter): Promise<void> {
    this.#keep(await limiter.acquire(this.#flow, this.#owner));
  }

  /** Waits for the client without a place in flight: the client decides how long that takes. */
  async awaitClient<Result>(wait: Promise<Result>): Promise<Result> {
    this.leave();
    const result = await wait;
    await this.enter();
    return result;
  }

  /** Reserves memory without a wait; returns false if the caller's share is used up. */
  tryReserve(bytes: number): boolean {
    const release = this.#memory.tryAcquire(this.#flow, bytes);
    if (release) this.#keepMemory(release);
    return release !== undefined;
  }

  /**
   * Reserves memory, after a wait if necessary. Throws or rejects with 429. A request that holds
   * memory does not wait for more: requests of one caller, or a single one, would deadlock on
   * memory that they hold themselves.
   */
  reserve(bytes: number): Promise<void> | undefined {
    if (this.#hasMemory) {
      this.reserveAtOnce(bytes);
      return undefined;
    }
    const reserved = this.#memory.acquire(this.#flow, this.#owner, bytes);
    if (typeof reserved !== 'function') return reserved.then((release) => this.#keepMemory(release));
    this.#keepMemory(reserved);
    return undefined;
  }

  /**
   * Reserves memory for the head of the request, after a wait if necessary. Unlike other memory it does not spare the request
   * its wait in `reserve`: else each body behind a large head would be reserved beyond the user's share.
   */
  async reserveHead(bytes: number): Promise<void> {
    const release = await this.#memory.acquire(this.#flow, this.#owner, bytes);
    if (this.#owner.isOver) release();
    else this.#head = release;
  }

  /** Reserves memory that cannot be refused: for the reply to a write that is stored already. */
  reserveAtOnce(bytes: number): void {
    this.#keepMemory(this.#memory.overdraw(this.#flow, bytes));
  }

  #enterWith(release: Release): void {
    if (this.#owner.isOver) release();
    else this.#place = release;
  }

  #keepMemory(release: Release): void {
    this.#hasMemory = true;
    this.#keep(release);
  }

  #keep(release: Release): void {
    if (this.#owner.isOver) release();
    else if (this.#others) this.#others.push(release);
    else this.#others = [release];
  }

  /** Called by the exchange when it is over. */
  releaseAll(): void {
    this.stream();
    if (this.#others) for (const release of this.#others) release();
    this.#others = undefined;
  }
}
