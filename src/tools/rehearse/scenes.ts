import { NamespacesScene } from './namespaces-scene.js';
import { OwnersScene } from './owners-scene.js';
import { pause, repeat } from './pause.js';
import type { SceneCounts } from './rehearsal-result.js';
import type { Stage } from './scene.js';

const INSPECT_EVERY_MS = 500;
const OWNERS_A_BATCH = 3;
const NAMESPACES_A_BATCH = 3;
/** Kept for deletes while the only server with the kind restarts and none can be created. */
const NAMESPACES_IN_RESERVE = 2;
const SETTLE_POLL_MS = 250;
const NOTES_MAX = 5;

/**
 * Creates and deletes owners and namespaces in batches while the control plane is mixed, and inspects
 * the results all the time.
 */
export class Scenes {
  readonly #stage: Stage;
  readonly #batchEveryMs: number;
  readonly #owners: OwnersScene;
  readonly #namespaces: NamespacesScene;
  readonly #making = new AbortController();
  readonly #inspecting = new AbortController();
  #notes = 0;
  #deletion: Promise<void> | undefined;
  #made: Promise<void> = Promise.resolve();
  #inspected: Promise<void> = Promise.resolve();

  constructor(stage: Stage, batchEveryMs: number) {
    this.#stage = stage;
    this.#batchEveryMs = batchEveryMs;
    this.#owners = new OwnersScene(stage);
    this.#namespaces = new NamespacesScene(stage);
  }

  start(): void {
    const { clock } = this.#stage;
    this.#made = repeat(clock, this.#batchEveryMs, this.#making.signal, () => this.#batch());
    this.#inspected = repeat(clock, INSPECT_EVERY_MS, this.#inspecting.signal, () => this.#inspect());
  }

  /** Ends the batches, waits until deleted objects are gone, and inspects for the last time. */
  async settle(patienceMs: number): Promise<void> {
    const { clock, signal } = this.#stage;
    this.#making.abort();
    await this.#made;
    await this.#deletion;
    const deadlineMs = clock.nowMs() + patienceMs;
    const isOpen = (): boolean => this.#namespaces.leaving > 0 || this.#owners.notCollected.bad > 0;
    while (isOpen() && clock.nowMs() < deadlineMs && !signal.aborted) await pause(clock, SETTLE_POLL_MS, signal);
    this.#inspecting.abort();
    await this.#inspected;
    await this.#inspect();
    this.#namespaces.recordStuck();
  }

  /** Deletes the rest after the last inspection. A failure here is not a finding. */
  async tidy(): Promise<void> {
    await this.#namespaces.tidy().catch((error) => this.#note(error));
  }

  /** Ends whatever still runs. */
  async stop(): Promise<void> {
    this.#making.abort();
    this.#inspecting.abort();
    await Promise.all([this.#made, this.#inspected]);
    await this.#deletion;
  }

  get counts(): SceneCounts {
    return {
      collectedByMistake: this.#owners.collectedByMistake,
      notCollected: this.#owners.notCollected,
      namespacesEndedEarly: this.#namespaces.endedEarly,
      namespacesStuck: this.#namespaces.stuck,
    };
  }

  async #batch(): Promise<void> {
    const { truth, skews } = this.#stage;
    if (!skews.some(({ kind }) => truth.isMixed(kind.key))) return;
    const reserve = this.#namespaces.waiting;
    // Not awaited: the delete may have to be sent many times.
    this.#deletion ??= this.#owners.deleteOldest().finally(() => {
      this.#deletion = undefined;
    });
    await this.#namespaces.deleteOldest();
    if (reserve > NAMESPACES_IN_RESERVE) await this.#namespaces.deleteOldest();
    await this.#owners.make(OWNERS_A_BATCH).catch((error) => this.#note(error));
    await this.#namespaces.make(NAMESPACES_A_BATCH).catch((error) => this.#note(error));
  }

  async #inspect(): Promise<void> {
    await this.#owners.inspect().catch((error) => this.#note(error));
    await this.#namespaces.inspect().catch((error) => this.#note(error));
  }

  /** Reports a failure, unless the only server with the kind restarts: then the next round succeeds. */
  #note(error: Error): void {
    if (this.#stage.straight.serving() === undefined || this.#notes++ >= NOTES_MAX) return;
    this.#stage.note(`a scene could not be set or looked at: ${error.message}`);
  }
}
