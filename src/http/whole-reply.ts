import type { Clock } from '../base/clock.js';
import { readBody } from './body-stream.js';
import { Deadline } from './deadline.js';
import type { Reply } from './exchange.js';
import type { RawHeaders } from './headers.js';
import type { OnAbort } from './on-abort.js';

export interface WholeReply {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

export interface WholeReplyLimits {
  readonly clock: Clock;
  /** From sending the request to the last byte of the reply. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

/**
 * Sends a request and reads its reply into memory. Rejects when the time is up (see Deadline for `work`), and with
 * BodyTooLargeError; the request is aborted in both cases.
 */
export async function wholeReply(
  send: (onAbort: OnAbort) => Promise<Reply>,
  { clock, timeoutMs, bytesMax }: WholeReplyLimits,
  work: string | (() => Error),
): Promise<WholeReply> {
  const deadline = new Deadline(clock, timeoutMs, work);
  try {
    const { status, headers, body } = await deadline.reply(send(deadline.onAbort));
    return { status, headers, body: await deadline.race(readBody(body, bytesMax)) };
  } finally {
    deadline.end();
  }
}
