import type { Reply } from '../../http/exchange.js';
import { PROTOBUF_WATCH_MEDIA_TYPE } from '../protobuf/watch-frame.js';
import { WatchEncoder } from '../watch/watch-encoder.js';
import { WatchSession, type WatchStart } from '../watch/watch-session.js';
import { warningHeaders } from './answer.js';
import type { ApiCall } from './api-call.js';
import { type ListOptions, listOptions } from './list-options.js';
import { watchForm } from './output-form.js';
import { awaitNewest, awaitRevision } from './resource-version.js';
import { selectionOf } from './selection.js';

/** Default timeout, up to twice as long at random, so that watches spread over servers. */
const TIMEOUT_MS_MIN = 30 * 60_000;

export async function watch(call: ApiCall): Promise<Reply> {
  const { exchange, machinery, type } = call;
  const form = watchForm(exchange, call.query, type);
  const options = listOptions(withWatch(call.query));
  const selection = selectionOf(call);
  const start = await startOf(call, options);
  const session = new WatchSession({
    cache: machinery.caches.of(type.storage.prefix),
    backend: machinery.backend,
    feed: machinery.feed,
    clock: machinery.clock,
    selection,
    encoder: new WatchEncoder(type, form, () => machinery.clock.nowMs()),
    start,
    bookmarks: options.allowWatchBookmarks,
    timeoutMs: options.timeoutSeconds > 0 ? options.timeoutSeconds * 1000 : TIMEOUT_MS_MIN * (1 + Math.random()),
  });
  machinery.watches.add(session);
  session.onEnd(() => machinery.watches.delete(session));
  exchange.onAbort(() => session.stop());
  session.begin();
  const contentType = form.encoding === 'protobuf' ? PROTOBUF_WATCH_MEDIA_TYPE : 'application/json';
  const headers = ['Content-Type', contentType, 'Cache-Control', 'no-cache, private'];
  return { status: 200, headers: [...headers, ...warningHeaders(call.warnings)], body: session.body };
}

/** Returns the start of the events once the cache has reached the revision that it needs. */
async function startOf(call: ApiCall, { minimumRevision, sendInitialEvents }: ListOptions): Promise<WatchStart> {
  const isFromState = sendInitialEvents ?? (minimumRevision === undefined || minimumRevision === 0);
  if (minimumRevision === undefined) await awaitNewest(call);
  else await awaitRevision(call, isFromState ? minimumRevision : 0);
  if (isFromState) return { from: 'state', marksEnd: sendInitialEvents === true };
  return { from: 'revision', revision: minimumRevision || call.machinery.feed.revision };
}

/** The deprecated path prefix /watch/… has no such parameter. */
function withWatch(query: URLSearchParams): URLSearchParams {
  if (query.has('watch')) return query;
  const copy = new URLSearchParams(query);
  copy.set('watch', 'true');
  return copy;
}
