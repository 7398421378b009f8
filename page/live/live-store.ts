import { useEffect, useState } from 'preact/hooks';
import { type Live, NOTHING_YET } from './connection.js';

/** Hands the newest state to the page, at most once a frame however many events came. */
export class LiveStore {
  #live: Live = NOTHING_YET;
  #listeners = new Set<(live: Live) => void>();
  #frame: number | undefined;

  get live(): Live {
    return this.#live;
  }

  readonly set = (live: Live): void => {
    this.#live = live;
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      for (const listener of this.#listeners) listener(this.#live);
    });
  };

  readonly subscribe = (listener: (live: Live) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export function useLive(store: LiveStore): Live {
  const [live, setLive] = useState(store.live);
  useEffect(() => {
    setLive(store.live);
    return store.subscribe(setLive);
  }, [store]);
  return live;
}
