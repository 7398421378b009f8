import type { Lane, LaneMark } from '../../src/drawing/lane-drawing.js';
import type { ServerState, Timeline, TimelineEvent } from '../../src/proxy/page/page-state.js';
import { clockText, durationText } from '../words.js';

export const EVENT_WORDS: Readonly<Record<TimelineEvent['kind'], string>> = {
  left: 'Left',
  came: 'Came',
  version: 'Version',
  'api-appeared': 'API appeared',
  'api-gone': 'API gone',
  'prevented-404': 'Prevented 404',
  passthrough: 'Passthrough',
};

const STATE_WORDS: Readonly<Record<ServerState['state'], string>> = {
  ready: 'ready',
  down: 'down',
  unread: 'not read yet',
  gone: 'gone, remembered',
};

const RANGE_MS_MIN = 60_000;

/** The part of the timeline that is drawn, in Unix milliseconds. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the last `lastMs` until now, or all of it. */
export function rangeOf({ startedAtMs }: Timeline, nowMs: number, lastMs: number | undefined): Range {
  const wanted = lastMs === undefined ? startedAtMs : Math.max(startedAtMs, nowMs - lastMs);
  const earliest = Math.min(wanted, nowMs - RANGE_MS_MIN);
  return { fromMs: earliest, toMs: Math.max(nowMs, earliest + RANGE_MS_MIN) };
}

export function lanesOf({ lanes }: Timeline, { fromMs, toMs }: Range): Lane[] {
  return lanes.map(({ server, spans }) => ({
    name: server,
    spans: spans
      .filter((span) => span.fromMs < toMs && (span.toMs ?? toMs) > fromMs)
      .map((span) => {
        const end = span.toMs ?? toMs;
        const label = span.state === 'ready' ? (span.version ?? '') : STATE_WORDS[span.state];
        const until = span.toMs === null ? 'until now' : `until ${clockText(end)}`;
        const version = span.version === null ? '' : ` ${span.version}`;
        return {
          fromMs: span.fromMs - fromMs,
          toMs: end - fromMs,
          kind: span.state,
          label,
          title: `${server}${version}: ${STATE_WORDS[span.state]} from ${clockText(span.fromMs)} ${until} (${durationText(end - span.fromMs)})`,
        };
      }),
  }));
}

export function marksOf({ events }: Timeline, { fromMs, toMs }: Range): LaneMark[] {
  return events
    .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    .map(({ atMs, server, kind, text }) => ({
      atMs: atMs - fromMs,
      lane: server,
      kind,
      title: `${clockText(atMs)} ${EVENT_WORDS[kind]}: ${text}`,
    }));
}
