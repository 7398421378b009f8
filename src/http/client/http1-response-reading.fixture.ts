import { Http1ResponseError } from './http1-response-error.js';
import { Http1ResponseParser, type ResponseReceiver } from './http1-response-parser.js';

/** All that the parser reported of one answer. */
export interface Seen {
  status: number;
  fields: readonly string[];
  body: string;
  trailers: readonly string[] | undefined;
  keepsAlive: boolean;
  keepAliveMs: number | undefined;
  hasConnection: boolean;
  surplus: boolean;
  error: string | undefined;
}

export class Recorder implements ResponseReceiver {
  readonly seen: Seen = {
    status: 0,
    fields: [],
    body: '',
    trailers: undefined,
    keepsAlive: false,
    keepAliveMs: undefined,
    hasConnection: false,
    surplus: false,
    error: undefined,
  };

  onHead({ status, fields, keepsAlive, keepAliveMs, hasConnection }: Http1ResponseParser): void {
    if (this.seen.status !== 0) throw new Error('a second head');
    Object.assign(this.seen, { status, fields, keepsAlive, keepAliveMs, hasConnection });
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.seen.status === 0 || this.seen.trailers || end <= start) throw new Error('a body out of place');
    this.seen.body += bytes.toString('latin1', start, end);
  }

  onEnd(trailers: readonly string[]): void {
    if (this.seen.status === 0 || this.seen.trailers) throw new Error('an end out of place');
    this.seen.trailers = trailers;
  }
}

/** Feeds an answer in the pieces given, then the end of the connection. Every piece lies amid other bytes. */
export function read(pieces: readonly Buffer[], method = 'GET', { ends = true } = {}): Seen {
  const recorder = new Recorder();
  const parser = new Http1ResponseParser();
  parser.begin(recorder, method);
  try {
    for (const piece of pieces) {
      const amid = Buffer.concat([Buffer.from('\r\n\r\n'), piece, Buffer.from('\r\n\r\n')]);
      if (parser.execute(amid, 4, 4 + piece.length)) recorder.seen.surplus = true;
    }
    if (ends) parser.finish();
  } catch (error) {
    if (!(error instanceof Http1ResponseError)) throw error;
    recorder.seen.error = error.message;
  }
  return recorder.seen;
}
