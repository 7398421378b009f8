import { describe, expect, it } from 'vitest';
import { type BodySink, BodyStream, readBody } from './body-stream.js';

function producer() {
  const calls: string[] = [];
  const stream = new BodyStream({
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    cancel: (error) => calls.push(`cancel ${error.message}`),
  });
  return { stream, calls };
}

function receiver(wantsMore: () => boolean = () => true) {
  const seen: string[] = [];
  const sink: BodySink = {
    write: (chunk) => {
      seen.push(Buffer.from(chunk).toString());
      return wantsMore();
    },
    end: (trailers) => seen.push(`end ${trailers.join()}`),
    fail: (error) => seen.push(`fail ${error.message}`),
  };
  return { sink, seen };
}

const bytes = (text: string) => Buffer.from(text);

describe('BodyStream', () => {
  it('passes chunks, end and trailers in order', () => {
    const { stream } = producer();
    const { sink, seen } = receiver();
    stream.attach(sink);
    stream.push(bytes('a'));
    stream.push(bytes('b'));
    stream.end(['X-Sum', '1']);
    expect(seen).toEqual(['a', 'b', 'end X-Sum,1']);
  });

  it('keeps chunks that precede the receiver and pauses the producer at a bound', () => {
    const { stream, calls } = producer();
    const { sink, seen } = receiver();
    stream.push(bytes('early'));
    expect(calls).toEqual([]);
    stream.push(bytes('x'.repeat(64 * 1024)));
    stream.push(bytes('too'));
    expect(calls).toEqual(['pause']);
    stream.attach(sink);
    expect(seen.map((chunk) => chunk.length)).toEqual([5, 64 * 1024, 3]);
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('returns the whole body from takeWhole() if it precedes the receiver', () => {
    const { stream, calls } = producer();
    stream.push(bytes('all '));
    expect(stream.takeWhole()).toBeUndefined();
    stream.push(bytes('of it'));
    stream.end();
    expect(Buffer.from(stream.takeWhole()!).toString()).toBe('all of it');
    expect(stream.takeWhole()).toBeUndefined();
    stream.cancel(new Error('late'));
    expect(calls).toEqual([]);
  });

  it('returns nothing from takeWhole() after a failure, with trailers or a receiver', () => {
    const failed = producer().stream;
    failed.push(bytes('half'));
    failed.fail(new Error('gone'));
    expect(failed.takeWhole()).toBeUndefined();
    const withTrailers = producer().stream;
    withTrailers.end(['X-Sum', '1']);
    expect(withTrailers.takeWhole()).toBeUndefined();
    const received = producer().stream;
    received.attach(receiver().sink);
    expect(received.takeWhole()).toBeUndefined();
  });

  it('delivers an end or a failure that precedes the receiver', () => {
    const ended = producer();
    ended.stream.push(bytes('all'));
    ended.stream.end();
    const first = receiver();
    ended.stream.attach(first.sink);
    expect(first.seen).toEqual(['all', 'end ']);
    expect(ended.calls).toEqual([]);

    const failed = producer();
    failed.stream.push(bytes('half'));
    failed.stream.fail(new Error('gone'));
    const second = receiver();
    failed.stream.attach(second.sink);
    expect(second.seen).toEqual(['half', 'fail gone']);
  });

  it('pauses its producer once while the receiver is full, and resumes it once', () => {
    const { stream, calls } = producer();
    const { sink } = receiver(() => false);
    stream.attach(sink);
    stream.push(bytes('a'));
    stream.push(bytes('b'));
    expect(calls).toEqual(['pause']);
    stream.resume();
    stream.resume();
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('stays paused when the receiver is full after the early chunks', () => {
    const { stream, calls } = producer();
    stream.push(bytes('a'));
    stream.attach(receiver(() => false).sink);
    expect(calls).toEqual(['pause']);
  });

  it('delivers a failure after some chunks, and nothing after it', () => {
    const { stream } = producer();
    const { sink, seen } = receiver();
    stream.attach(sink);
    stream.push(bytes('half'));
    stream.fail(new Error('reset'));
    stream.push(bytes('more'));
    stream.end();
    expect(seen).toEqual(['half', 'fail reset']);
  });

  it('is cancelled once, and delivers nothing after', () => {
    const { stream, calls } = producer();
    const { sink, seen } = receiver();
    stream.attach(sink);
    stream.cancel(new Error('enough'));
    stream.cancel(new Error('again'));
    stream.push(bytes('late'));
    stream.end();
    stream.fail(new Error('late'));
    expect(calls).toEqual(['cancel enough']);
    expect(seen).toEqual([]);
  });

  it('stops in the middle of the early chunks when the receiver cancels there', () => {
    const { stream } = producer();
    stream.push(bytes('a'));
    stream.push(bytes('b'));
    stream.end();
    const seen: string[] = [];
    stream.attach({
      write: (chunk) => {
        seen.push(Buffer.from(chunk).toString());
        stream.cancel(new Error('enough'));
        return false;
      },
      end: () => seen.push('end'),
      fail: () => seen.push('fail'),
    });
    expect(seen).toEqual(['a']);
  });

  it('can be cancelled before a receiver is attached', () => {
    const { stream, calls } = producer();
    stream.push(bytes('early'));
    stream.cancel(new Error('not used'));
    expect(calls).toEqual(['cancel not used']);
  });

  it('has one receiver', () => {
    const { stream } = producer();
    stream.attach(receiver().sink);
    expect(() => stream.attach(receiver().sink)).toThrow(/one receiver/);
  });
});

describe('readBody', () => {
  it('reads null, bytes and streams', async () => {
    expect((await readBody(null, 1)).byteLength).toBe(0);
    expect((await readBody(bytes('ab'), 9)).toString()).toBe('ab');
    await expect(readBody(bytes('abc'), 2)).rejects.toThrow('body is larger than 2 bytes');
    const { stream } = producer();
    const read = readBody(stream, 4);
    stream.push(bytes('ab'));
    stream.push(bytes('cd'));
    stream.end();
    expect((await read).toString()).toBe('abcd');
  });

  it('stops reading beyond its bound', async () => {
    const { stream, calls } = producer();
    const read = readBody(stream, 3);
    stream.push(bytes('abcd'));
    await expect(read).rejects.toThrow(/larger than 3 bytes/);
    expect(calls[0]).toMatch(/^cancel/);
  });

  it('fails with the body', async () => {
    const { stream } = producer();
    const read = readBody(stream, 3);
    stream.fail(new Error('reset'));
    await expect(read).rejects.toThrow('reset');
  });
});
