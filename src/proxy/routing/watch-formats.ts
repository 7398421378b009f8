import type { Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { CBOR_EVENTS } from './watch-cbor-events.js';
import type { EventFormat } from './watch-events.js';
import { JSON_EVENTS } from './watch-json-events.js';
import { PROTOBUF_EVENTS } from './watch-protobuf-events.js';

/** The encodings in which kube-apiserver sends a watch, by the Content-Type of its answer. */
const FORMATS: readonly (readonly [RegExp, EventFormat])[] = [
  [/^application\/json\s*(;|$)/i, JSON_EVENTS],
  [/^application\/vnd\.kubernetes\.protobuf\s*;(.*;)?\s*stream=watch\s*(;|$)/i, PROTOBUF_EVENTS],
  [/^application\/cbor-seq\s*(;|$)/i, CBOR_EVENTS],
];

/** Returns the format of the events in a reply; undefined if they are compressed or not known, and have to be passed on as they are. */
export function eventFormatOf({ status, headers }: Reply): EventFormat | undefined {
  if (status !== 200 || headerValue(headers, 'content-length') !== undefined) return undefined;
  const coding = headerValue(headers, 'content-encoding');
  if (coding !== undefined && coding !== 'identity') return undefined;
  const type = headerValue(headers, 'content-type') ?? '';
  return FORMATS.find(([pattern]) => pattern.test(type))?.[1];
}
