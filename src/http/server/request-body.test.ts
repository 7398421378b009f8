import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { settle } from '../../base/manual-clock.fixture.js';
import { RequestBody } from './request-body.js';

async function textOf(body: Readable): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

describe('RequestBody', () => {
  it('passes the chunks of its source, then ends', async () => {
    expect(await textOf(new RequestBody(Readable.from([Buffer.from('a'), Buffer.from('b')])))).toBe('ab');
  });

  it('does not read its source before it is read itself', async () => {
    const source = new PassThrough({ highWaterMark: 10 });
    const body = new RequestBody(source);
    expect(source.write(Buffer.alloc(100))).toBe(false);
    await settle();
    expect(body.readableDidRead).toBe(false);
    expect(body.readableLength).toBe(0);
  });

  it('applies back-pressure to its source while its reader is slow', async () => {
    const source = new PassThrough();
    const body = new RequestBody(source);
    let written = 0;
    body.once('readable', () => {});
    while (source.write(Buffer.alloc(16 * 1024)) && written < 10_000_000) {
      written += 16 * 1024;
      await settle(1);
    }
    expect(written).toBeLessThan(1_000_000);
  });

  it('fails with unexpected EOF when its source closes before the end, with or without a reader', async () => {
    const read = new PassThrough();
    const outcome = textOf(new RequestBody(read)).catch((error: Error) => error);
    read.write('half');
    await settle();
    read.destroy();
    expect(await outcome).toMatchObject({ message: expect.stringMatching(/unexpected EOF/) });
    const unread = new PassThrough();
    const body = new RequestBody(unread);
    unread.destroy(new Error('reset'));
    await settle();
    expect(body.destroyed).toBe(true);
  });

  it('keeps its source open and drains it after destroy()', async () => {
    const source = new PassThrough();
    const body = new RequestBody(source);
    body.destroy(new Error('the attempt failed'));
    source.end(Buffer.alloc(1_000_000));
    await new Promise<void>((resolve) => source.once('end', resolve));
    expect(source.errored).toBeNull();
  });
});
