import type { Clock } from '../../base/clock.js';
import { readBody } from '../../http/body-stream.js';
import { Deadline } from '../../http/deadline.js';
import { discard } from '../../http/discard.js';
import type { Reply } from '../../http/exchange.js';
import type { Send } from '../../http/outgoing.js';
import { isObject, parsedObject } from '../json.js';
import { ApiRefusal, type OpenWatch, type WatchEvent } from './api-client.js';
import { JsonLines } from './json-lines.js';

const REFUSAL_BYTES_MAX = 64 * 1024;

export interface JsonWatch {
  /** Path and query. */
  readonly target: string;
  readonly accept: string;
  readonly onOpen: () => void;
  /** One event at a time, in the server's order. Throwing ends the watch. */
  readonly onEvent: (event: WatchEvent) => void;
  /** Returns the error for a reply other than 200; an ApiRefusal by default. */
  readonly refused?: (status: number, body: Buffer) => Error;
}

export interface WatchLimits {
  readonly clock: Clock;
  /** Timeout until the head of the reply, or until the whole reply of a refusal. */
  readonly headTimeoutMs: number;
  readonly eventBytesMax: number;
}

/** Opens one watch with events in JSON and follows it to its end. It is not opened again. */
export function watchJson(send: Send, watch: JsonWatch, limits: WatchLimits): OpenWatch {
  const { target, refused = (status, body) => refusal(target, status, body) } = watch;
  const head = new Deadline(limits.clock, limits.headTimeoutMs, `watch ${target}`);
  let stopped = false;
  let abort = () => {};
  const stop = (): void => {
    stopped = true;
    head.cancel('stopped');
    abort();
  };
  const run = async (): Promise<void> => {
    let reply: Reply;
    try {
      const headers = ['accept', watch.accept, 'accept-encoding', 'identity'];
      const sent = send('GET', target, headers, null, (listener) => {
        abort = listener;
        return head.onAbort(listener);
      });
      reply = await head.reply(sent);
      if (reply.status !== 200) throw refused(reply.status, await head.race(readBody(reply.body, REFUSAL_BYTES_MAX)));
    } finally {
      head.end();
    }
    if (stopped) return discard(reply);
    watch.onOpen();
    await follow(reply, watch, limits, (cancel) => {
      const before = abort;
      abort = () => {
        cancel();
        before();
      };
    });
  };
  const ended = run().catch((error: unknown) => {
    if (!stopped) throw error;
  });
  return { ended, stop };
}

function refusal(target: string, status: number, body: Buffer): ApiRefusal {
  return new ApiRefusal(`watch ${target}`, { status, body: parsedObject(body.toString('utf8')) });
}

function follow(
  { body }: Reply,
  { onEvent }: JsonWatch,
  { eventBytesMax }: WatchLimits,
  onCancel: (cancel: () => void) => void,
): Promise<void> {
  const lines = new JsonLines(eventBytesMax);
  const take = (chunk: Uint8Array): void => {
    for (const event of lines.push(chunk)) {
      if (!isObject(event) || typeof event['type'] !== 'string' || !isObject(event['object']))
        throw new Error('a line of the watch is not a watch event (type and object)');
      onEvent({ type: event['type'], object: event['object'] });
    }
  };
  if (body === null || body instanceof Uint8Array) {
    if (body) take(body);
    return Promise.resolve();
  }
  return new Promise<void>((resolve, reject) => {
    const give = (error: Error): void => {
      body.cancel(error);
      reject(error);
    };
    onCancel(() => {
      body.cancel(new Error('stopped'));
      resolve();
    });
    body.attach({
      write(chunk) {
        try {
          take(chunk);
          return true;
        } catch (error) {
          give(error as Error);
          return false;
        }
      },
      end: () => resolve(),
      fail: reject,
    });
  });
}
