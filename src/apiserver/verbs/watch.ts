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

/** Without a wish of the client a watch ends after a random time in this range, so that watches spread over servers. */
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

/** Where the stream of events begins, once the cache is as new as that needs. */
async function startOf(call: ApiCall, { minimumRevision, sendInitialEvents }: ListOptions): Promise<WatchStart> {
  const fromState = sendInitialEvents ?? (minimumRevision === undefined || minimumRevision === 0);
  if (fromState) {
    if (minimumRevision === undefined) await awaitNewest(call);
    else await awaitRevision(call, minimumRevision);
    return { from: 'state', marksEnd: sendInitialEvents === true };
  }
  if (minimumRevision === undefined || minimumRevision === 0) {
    if (minimumRevision === undefined) await awaitNewest(call);
    else await awaitRevision(call, 0);
    return { from: 'revision', revision: call.machinery.feed.revision };
  }
  await awaitRevision(call, 0);
  return { from: 'revision', revision: minimumRevision };
}

/** The deprecated path prefix /watch/… says it without the parameter. */
function withWatch(query: URLSearchParams): URLSearchParams {
  if (query.has('watch')) return query;
  const copy = new URLSearchParams(query);
  copy.set('watch', 'true');
  return copy;
}
