import type { Clock } from '../base/clock.js';
import { StatusError } from '../kube/status-error.js';

/** Whose share of a limit is used. */
export interface Flow {
  /** Holds one share together: one user, or all unauthenticated callers. */
  readonly group: string;
  /** Takes turns with the other members of the group, such as one source address among unauthenticated callers. */
  readonly member: string;
}

export interface FairLimiterOptions {
  /** Held at once by all groups: requests in flight, bytes of memory. */
  readonly heldMax: number;
  /** Held at once by one group. `heldMax` where it is not given. */
  readonly heldPerGroupMax?: number;
  /** Requests that wait, of all groups. */
  readonly queueMax: number;
  /** Requests that wait, of one group. A quarter of the queue where it is not given. */
  readonly queuePerGroupMax?: number;
  readonly waitMsMax: number;
  readonly clock: Clock;
  /** Called for each request that is refused, for a metric. */
  readonly onRefused?: (why: RefusalReason) => void;
}

export type RefusalReason = 'queue-full' | 'wait-time';

/** Gives back what was acquired. Calling it again does nothing. */
export type Release = () => void;

/** Registers a callback for "the caller has gone"; returns how to take it back. */
export type OnAbort = (listener: () => void) => () => void;

interface Waiter {
  readonly flow: Flow;
  readonly amount: number;
  readonly admit: (release: Release) => void;
  readonly refuse: (error: StatusError) => void;
  cancelTimer: () => void;
  cancelAbort: () => void;
}

/** The amount that one group holds, and its waiters by member: the first member is served next and then goes to the back. */
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
 * Bounds how much is held at once, in all and by each group, and makes the rest wait in fair order: groups take turns, and
 * within a group its members do. A group that holds its whole share waits while others are admitted. A full queue makes
 * room for a group at the expense of the longest one. Nothing is allocated but the release while nobody has to wait.
 */
export class FairLimiter {
  readonly #options: Required<Omit<FairLimiterOptions, 'onRefused'>> & Pick<FairLimiterOptions, 'onRefused'>;
  /** Every group that holds something or waits. */
  readonly #groups = new Map<string, Group>();
  /** Groups with waiters, in the order of their turns. */
  readonly #turns = new Map<string, Group>();
  #held = 0;
  #queued = 0;
  /** The waiter whose turn it is needs more than is free: nobody who arrives now may slip in before it. */
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
   * Acquires `amount`, at once or after a wait. More than a group's share is counted as the whole share, so that a single
   * large request is possible. Throws or rejects with StatusError (TooManyRequests).
   */
  acquire(flow: Flow, onAbort: OnAbort, amount = 1): Release | Promise<Release> {
    const counted = Math.min(amount, this.#options.heldPerGroupMax);
    const release = this.#tryCounted(flow, counted);
    if (release) return release;
    this.#makeRoom(flow);
    return new Promise((admit, refuse) => this.#wait({ flow, amount: counted, admit, refuse }, onAbort));
  }

  /** Acquires `amount` if that is possible without a wait. */
  tryAcquire(flow: Flow, amount = 1): Release | undefined {
    return this.#tryCounted(flow, Math.min(amount, this.#options.heldPerGroupMax));
  }

  /**
   * Acquires `amount` at once, beyond the bounds where it has to, for a request that cannot wait: it holds some already, or
   * its work is done. Others wait until that is given back.
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

  /** A place in the queue. Equal shares stay as they are, or two callers would displace each other in turn. */
  #makeRoom({ group: name, member }: Flow): void {
    const { queueMax, queuePerGroupMax } = this.#options;
    const group = this.#groups.get(name);
    if (group && group.queued >= queuePerGroupMax) {
      const longest = group.longest();
      const own = group.members.get(member)?.size ?? 0;
      if (longest.size <= own + 1) this.#refuseFull('too many requests of this caller are waiting');
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

  #wait(request: Pick<Waiter, 'flow' | 'amount' | 'admit' | 'refuse'>, onAbort: OnAbort): void {
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
    const cancelAbort = onAbort(() => {
      if (!this.#leave(waiter)) return;
      refuse(tooMany('the caller left the queue'));
      this.#admitWaiting();
    });
    // A caller that had left already is out of the queue again by now.
    if (this.#isWaiting(waiter)) waiter.cancelAbort = cancelAbort;
    else cancelAbort();
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#turns.get(waiter.flow.group)?.members.get(waiter.flow.member)?.has(waiter) ?? false;
  }

  /** Takes a waiter out of the queue, with all its callbacks; false if it was out already. */
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

  /** Admits waiters in turn, for as long as the next one fits. Groups that hold their whole share are passed over. */
  #admitWaiting(): void {
    for (;;) {
      const waiter = this.#nextInTurn();
      this.#contended = this.#isContended(waiter);
      if (!waiter || this.#contended) return;
      const { group: name, member } = waiter.flow;
      const group = this.#groups.get(name)!;
      const waiters = group.members.get(member)!;
      // Counted before the waiter leaves the queue, or its group would be forgotten for a moment.
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

/** Moves an entry to the end of its map's order. */
function rotate<Value>(map: Map<string, Value>, key: string, value: Value, isKept: boolean): void {
  map.delete(key);
  if (isKept) map.set(key, value);
}

function tooMany(message: string): StatusError {
  return new StatusError('TooManyRequests', message, { retryAfterSeconds: 1 });
}
