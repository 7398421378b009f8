import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';

/** One answer as the HTTP/1.1 client of Node.js reads it. */
export interface NodeReading {
  readonly accepted: boolean;
  /** Code of the error where it was not accepted. */
  readonly code: string | undefined;
  readonly status: number;
  /** Names and values in turn, as they came. */
  readonly fields: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
  /** Bytes up to the end of the answer; what follows belongs to nobody. */
  readonly bytes: number;
  readonly keepsAlive: boolean;
}

/** No limit of Node's is reached before Straddle's own (256 KiB). */
const HEAD_BYTES_MAX = 1024 * 1024;

class MemorySocket extends Duplex {
  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: unknown, done: () => void): void {
    done();
  }

  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

class OneSocketAgent extends Agent {
  readonly socket = new MemorySocket();

  constructor() {
    super({ keepAlive: true });
  }

  override createConnection(): Duplex {
    return this.socket;
  }
}

/** Gives the bytes to Node's client one by one, then the end of the connection. */
export async function readByNode(bytes: Buffer, method: string): Promise<NodeReading> {
  const agent = new OneSocketAgent();
  const { socket } = agent;
  const sent = request({ agent, method, host: 'server', maxHeaderSize: HEAD_BYTES_MAX, insecureHTTPParser: false });
  let response: IncomingMessage | undefined;
  let error: NodeJS.ErrnoException | undefined;
  const chunks: Buffer[] = [];
  sent.maxHeadersCount = 0;
  sent.on('error', (why) => {
    error ??= why;
  });
  sent.on('response', (message) => {
    response = message;
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('error', (why) => {
      error ??= why;
    });
  });
  sent.end();
  await once(sent, 'socket');
  // The client begins to read after that.
  await new Promise<void>((resolve) => setImmediate(resolve));

  let at = 0;
  while (at < bytes.length && !response?.complete && !socket.destroyed) {
    socket.push(bytes.subarray(at, at + 1));
    at++;
  }
  const keepsAlive = sent.shouldKeepAlive;
  if (!response?.complete) socket.push(null);
  await over(response, () => sent.destroyed);
  const accepted = response?.complete === true && error === undefined;
  agent.destroy();
  socket.destroy();
  return {
    accepted,
    code: error?.code,
    status: response?.statusCode ?? 0,
    fields: response?.rawHeaders ?? [],
    body: Buffer.concat(chunks).toString('latin1'),
    trailers: response?.rawTrailers ?? [],
    bytes: at,
    keepsAlive,
  };
}

/** Resolves when all of the body was passed on, or nothing will be any more. */
async function over(response: IncomingMessage | undefined, isDestroyed: () => boolean): Promise<void> {
  for (let turns = 0; turns < TURNS_MAX; turns++) {
    if (response ? response.readableEnded || response.destroyed : isDestroyed()) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error('the client of Node.js did not come to an end');
}

const TURNS_MAX = 100;
