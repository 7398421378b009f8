import { describe, expect, it } from 'vitest';
import { BodyStream, readBody } from './body-stream.js';
import { chunkedBody, WHOLE_BODY_BYTES_MAX } from './chunked-body.js';

const long = Buffer.alloc(2 * WHOLE_BODY_BYTES_MAX, 'abcdefg');

describe('chunkedBody', () => {
  it('returns a short body as it is', () => {
    const body = Buffer.from('short');
    expect(chunkedBody(body)).toBe(body);
  });

  it('passes all bytes of a long body in order to a receiver that never pauses', async () => {
    expect((await readBody(chunkedBody(long), long.byteLength)).equals(long)).toBe(true);
  });

  it('gives a slow receiver one part at a time, and ends after the last', () => {
    const stream = chunkedBody(long) as BodyStream;
    const parts: Uint8Array[] = [];
    let ended = false;
    stream.attach({
      write(chunk) {
        parts.push(chunk);
        return false;
      },
      end() {
        ended = true;
      },
      fail(error) {
        throw error;
      },
    });
    for (let count = 1; !ended; count++) {
      expect(parts).toHaveLength(count);
      stream.resume();
    }
    expect(Buffer.concat(parts).equals(long)).toBe(true);
  });

  it('stops when the receiver has gone', () => {
    const stream = chunkedBody(long);
    expect(stream).toBeInstanceOf(BodyStream);
    (stream as BodyStream).cancel(new Error('gone'));
    expect(() => (stream as BodyStream).resume()).not.toThrow();
  });
});
