import type { ConnectionSurroundings } from './connection.js';
import { EVENT_NAMES } from './fold-event.js';

const STATE_URL = '/straddle/api/v1/state';
const STREAM_URL = '/straddle/api/v1/stream';
/** More than the largest state with all its bounds. */
const STATE_CHARACTERS_MAX = 64 * 1024 * 1024;

export const browserConnection: ConnectionSurroundings = {
  openStream({ onEvent, onEnd }) {
    const source = new EventSource(STREAM_URL);
    for (const name of EVENT_NAMES) {
      source.addEventListener(name, (event) => onEvent(name, String((event as MessageEvent).data)));
    }
    // The browser would try again by itself, without a bound and without a word.
    source.onerror = () => {
      source.close();
      onEnd();
    };
    return () => source.close();
  },
  async fetchState(signal) {
    const response = await fetch(STATE_URL, { signal, cache: 'no-store', headers: { Accept: 'application/json' } });
    if (response.status === 401 || response.status === 403) {
      throw new Error(`${response.status}: you may not read this page; open it again with straddle dashboard`);
    }
    if (!response.ok) throw new Error(`the answer is ${response.status}`);
    const text = await response.text();
    if (text.length > STATE_CHARACTERS_MAX) throw new Error('the state is too large');
    return text;
  },
  later(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  chance: () => Math.random(),
};
