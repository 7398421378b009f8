import type { Clock } from '../base/clock.js';
import { StatusError } from '../kube/status-error.js';

/** The share of a limit that a request uses. */
export interface Flow {
  /** Callers with one share: one user, or all unauthenticated callers. */
  readonly group: string;
  /** One caller of the group, which take turns: one address among unauthenticated callers. */
  readonly member: string;
}

export interface FairLimiterOptions {
  /** Bound on the amount held by all groups: requests in flight, bytes of memory. */
  readonly heldMax: number;
  /** Bound on the amount held by one group. Default: `heldMax`. */
  readonly heldPerGroupMax?: number;
  /** Bound on waiting requests of all groups. */
  readonly queueMax: number;
  /** Bound on waiting requests of one group. Default: a quarter of the queue. */
  readonly queuePerGroupMax?: number;
  readonly waitMsMax: number;
  readonly clock: Clock;
  /** Called for each request that is refused, for a metric. */
  readonly onRefused?: (why: RefusalReason) => void;
}

export type RefusalReason = 'queue-full' | 'wait-time';

/** Releases the acquired amount. Further calls have no effect. */
export type Release = () => void;

/** A waiting request, which may be aborted. */
export interface Caller {
  /** Calls back once on abort, at once if that has happened; returns a function that cancels. */
  onAbort(listener: () => void): () => void;
}

interface Waiter {
  readonly flow: Flow;
  readonly amount: number;
  readonly admit: (release: Release) => void;
  readonly refuse: (error: StatusError) => void;
  cancelTimer: () => void;
  cancelAbort: () => void;
}

/** Amount held by one group, and its waiters by member, the next member first. */
class Group {
  held = 0;
  queued = 0;
  readonly members = new Map<string, Set<Waiter>>();

  next(): Waiter {
    const [first] = this.members.values();
    const [waiter] = first!;
    return waiter!;
  }

  longest(): Set<Waiter> {
    let longest: Set<Waiter> | undefined;
    for (const waiters of this.members.values()) if (waiters.size > (longest?.size ?? 0)) longest = waiters;
    return longest!;
  }
}

/**
 * Bounds the amount held at once, in all and per group, and queues the rest in fair order: groups
 * take turns, and members within a group. A group that holds its whole share waits while others are
 * admitted. In a full queue, a new group displaces a waiter of the longest one. Without contention
 * an acquisition allocates the release, and a Group if the group holds nothing.
 */
export class FairLimiter {
  readonly #options: Required<Omit<FairLimiterOptions, 'onRefused'>> & Pick<FairLimiterOptions, 'onRefused'>;
  /** Groups that hold an amount or wait. */
  readonly #groups = new Map<string, Group>();
  /** Groups with waiters, in the order of their turns. */
  readonly #turns = new Map<string, Group>();
  #held = 0;
  #queued = 0;
  /** The next waiter needs more than is free: new requests must not overtake it. */
  #contended = false;

  constructor(options: FairLimiterOptions) {
    if (!(options.heldMax >= 1)) throw new RangeError('heldMax must be at least 1');
    this.#options = {
      queuePerGroupMax: Math.max(1, Math.ceil(options.queueMax / 4)),
      ...options,
      heldPerGroupMax: Math.max(1, Math.min(options.heldPerGroupMax ?? options.heldMax, options.heldMax)),
    };
  }

  get stats(): { readonly held: number; readonly queued: number; readonly groups: number } {
    return { held: this.#held, queued: this.#queued, groups: this.#groups.size };
  }

  /**
   * Acquires `amount`, at once or after a wait. An amount above a group's share is counted as the
   * whole share, so that a single large request is possible. Throws or rejects with StatusError
   * (TooManyRequests).
   */
  acquire(flow: Flow, caller: Caller, amount = 1): Release | Promise<Release> {
    const counted = Math.min(amount, this.#options.heldPerGroupMax);
    const release = this.#tryCounted(flow, counted);
    if (release) return release;
    this.#makeRoom(flow);
    return new Promise((admit, refuse) => this.#wait({ flow, amount: counted, admit, refuse }, caller));
  }

  /** Acquires `amount` if that is possible without a wait, else returns undefined. */
  tryAcquire(flow: Flow, amount = 1): Release | undefined {
    return this.#tryCounted(flow, Math.min(amount, this.#options.heldPerGroupMax));
  }

  /**
   * Acquires `amount` at once, beyond the bounds if necessary, for a request that cannot wait: it
   * already holds an amount, or its work is done. Others wait until it is released.
   */
  overdraw({ group: name }: Flow, amount: number): Release {
    return this.#take(name, this.#groups.get(name) ?? this.#add(name), amount);
  }

  #tryCounted({ group: name }: Flow, amount: number): Release | undefined {
    const { heldMax, heldPerGroupMax } = this.#options;
    const group = this.#groups.get(name);
    if (this.#contended || this.#held + amount > heldMax) return undefined;
    if (group && (group.queued > 0 || group.held + amount > heldPerGroupMax)) return undefined;
    return this.#take(name, group ?? this.#add(name), amount);
  }

  #add(name: string): Group {
    const group = new Group();
    this.#groups.set(name, group);
    return group;
  }

  #take(name: string, group: Group, amount: number): Release {
    this.#held += amount;
    group.held += amount;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#held -= amount;
      group.held -= amount;
      this.#forgetIfUnused(name, group);
      if (this.#queued > 0) this.#admitWaiting();
    };
  }

  #forgetIfUnused(name: string, group: Group): void {
    if (group.held === 0 && group.queued === 0) this.#groups.delete(name);
  }

  /**
   * Makes room for a waiter, or throws 429. Equal shares stay as they are, or two callers would
   * displace each other in turn.
   */
  #makeRoom({ group: name, member }: Flow): void {
    const { queueMax, queuePerGroupMax } = this.#options;
    const group = this.#groups.get(name);
    if (group && group.queued >= queuePerGroupMax) {
      const longest = group.longest();
      const queuedOfMember = group.members.get(member)?.size ?? 0;
      if (longest.size <= queuedOfMember + 1) this.#refuseFull('too many requests of this caller are waiting');
      this.#displaceYoungest(longest);
    } else if (this.#queued >= queueMax) {
      let largest: Group | undefined;
      for (const each of this.#turns.values()) if (each.queued > (largest?.queued ?? 0)) largest = each;
      if (!largest || largest.queued <= (group?.queued ?? 0) + 1) this.#refuseFull('too many requests are waiting');
      this.#displaceYoungest(largest.longest());
    }
  }

  #displaceYoungest(line: Set<Waiter>): void {
    const youngest = [...line].at(-1)!;
    this.#leave(youngest);
    this.#options.onRefused?.('queue-full');
    youngest.refuse(tooMany('too many requests are waiting, most of them of this caller'));
  }

  #refuseFull(message: string): never {
    this.#options.onRefused?.('queue-full');
    throw tooMany(message);
  }

  #wait(request: Pick<Waiter, 'flow' | 'amount' | 'admit' | 'refuse'>, caller: Caller): void {
    const { flow, refuse } = request;
    const waiter: Waiter = { ...request, cancelTimer: () => {}, cancelAbort: () => {} };
    const group = this.#groups.get(flow.group) ?? this.#add(flow.group);
    const waiters = group.members.get(flow.member);
    if (waiters) waiters.add(waiter);
    else group.members.set(flow.member, new Set([waiter]));
    group.queued += 1;
    this.#queued += 1;
    this.#turns.set(flow.group, group);
    this.#contended = this.#isContended(this.#nextInTurn());
    waiter.cancelTimer = this.#options.clock.after(this.#options.waitMsMax, () => {
      if (!this.#leave(waiter)) return;
      this.#options.onRefused?.('wait-time');
      refuse(tooMany('the request waited too long in the queue'));
      this.#admitWaiting();
    });
    const cancelAbort = caller.onAbort(() => {
      if (!this.#leave(waiter)) return;
      refuse(tooMany('the caller left the queue'));
      this.#admitWaiting();
    });
    // A caller that was aborted before is out of the queue again by now.
    if (this.#isWaiting(waiter)) waiter.cancelAbort = cancelAbort;
    else cancelAbort();
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#turns.get(waiter.flow.group)?.members.get(waiter.flow.member)?.has(waiter) ?? false;
  }

  /** Removes a waiter from the queue and cancels its callbacks; false if it was not there. */
  #leave(waiter: Waiter): boolean {
    const { group: name, member } = waiter.flow;
    const group = this.#groups.get(name);
    const waiters = group?.members.get(member);
    if (!group || !waiters?.delete(waiter)) return false;
    if (waiters.size === 0) group.members.delete(member);
    group.queued -= 1;
    this.#queued -= 1;
    if (group.queued === 0) this.#turns.delete(name);
    this.#forgetIfUnused(name, group);
    waiter.cancelTimer();
    waiter.cancelAbort();
    return true;
  }

  /** Admits waiters in turn while the next one fits. Groups that hold their whole share are skipped. */
  #admitWaiting(): void {
    for (;;) {
      const waiter = this.#nextInTurn();
      this.#contended = this.#isContended(waiter);
      if (!waiter || this.#contended) return;
      const { group: name, member } = waiter.flow;
      const group = this.#groups.get(name)!;
      const waiters = group.members.get(member)!;
      // Acquired before the waiter leaves the queue, or its unused group would be deleted in
      // between.
      const release = this.#take(name, group, waiter.amount);
      this.#leave(waiter);
      rotate(this.#turns, name, group, group.queued > 0);
      rotate(group.members, member, waiters, waiters.size > 0);
      waiter.admit(release);
    }
  }

  #isContended(next: Waiter | undefined): boolean {
    return next !== undefined && this.#held + next.amount > this.#options.heldMax;
  }

  #nextInTurn(): Waiter | undefined {
    for (const group of this.#turns.values()) {
      const waiter = group.next();
      if (group.held + waiter.amount <= this.#options.heldPerGroupMax) return waiter;
    }
    return undefined;
  }
}

/** Moves an entry to the end of its map, or deletes it. */
function rotate<Value>(map: Map<string, Value>, key: string, value: Value, isKept: boolean): void {
  map.delete(key);
  if (isKept) map.set(key, value);
}

function tooMany(message: string): StatusError {
  return new StatusError('TooManyRequests', message, { retryAfterSeconds: 1 });
}
