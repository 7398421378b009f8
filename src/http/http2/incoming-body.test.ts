import { describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import { IncomingBody } from './incoming-body.js';

function makeBody() {
  const seen = { consumed: 0 };
  const body = new IncomingBody((bytes) => {
    seen.consumed += bytes;
  });
  const add = (text: string) => body.add(Buffer.from(text), 0, Buffer.byteLength(text));
  return { body, seen, add };
}

async function textOf(body: IncomingBody): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

describe('IncomingBody', () => {
  it('passes bytes received before and after reading starts, then ends', async () => {
    const { body, add, seen } = makeBody();
    add('a');
    add('b'.repeat(10_000));
    add('c');
    const text = textOf(body);
    await settle();
    add('d');
    await settle();
    body.finish();
    expect(await text).toBe(`a${'b'.repeat(10_000)}cd`);
    expect(seen.consumed).toBe(10_003);
  });

  it('consumes no bytes until it is read', async () => {
    const { body, add, seen } = makeBody();
    add('abc');
    body.finish();
    await settle();
    expect(seen.consumed).toBe(0);
    expect(await textOf(body)).toBe('abc');
    expect(seen.consumed).toBe(3);
  });

  it('stops consuming bytes while its reader is paused', async () => {
    const { body, seen } = makeBody();
    const piece = Buffer.alloc(16 * 1024);
    body.on('data', () => body.pause());
    for (let i = 0; i < 16; i++) body.add(piece, 0, piece.length);
    await settle();
    expect(seen.consumed).toBeLessThanOrEqual(6 * piece.length);
    body.removeAllListeners('data');
    let read = 0;
    body.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    body.resume();
    await settle(20);
    expect(seen.consumed).toBe(16 * piece.length);
    expect(read).toBeGreaterThanOrEqual(15 * piece.length);
  });

  it('gathers single bytes into blocks and keeps no read buffer alive', async () => {
    const { body, seen } = makeBody();
    const read = Buffer.alloc(64 * 1024, 'x');
    for (let i = 0; i < 100_000; i++) body.add(read, i % read.length, (i % read.length) + 1);
    body.finish();
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    expect(chunks.length).toBeLessThan(50);
    expect(chunks.every(({ buffer }) => buffer !== read.buffer)).toBe(true);
    expect(seen.consumed).toBe(100_000);
  });

  it('gathers single bytes while its reader is paused', async () => {
    const { body, seen } = makeBody();
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      body.pause();
    });
    await settle();
    for (let i = 0; i < 20_000; i++) {
      body.add(Buffer.of(i), 0, 1);
      if (i % 100 === 0) await settle(1);
    }
    body.finish();
    body.removeAllListeners('data');
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.resume();
    await until(() => body.readableEnded);
    expect(chunks.length).toBeLessThan(20);
    expect(Buffer.concat(chunks)).toEqual(Buffer.from(Array.from({ length: 20_000 }, (_, i) => i & 0xff)));
    expect(seen.consumed).toBe(20_000);
  });

  it('passes single bytes of one turn together, and the last ones with the end', async () => {
    const { body, seen } = makeBody();
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    await settle();
    const read = Buffer.alloc(9_000, 'x');
    for (let i = 0; i < read.length; i++) body.add(read, i, i + 1);
    await settle();
    expect(chunks.map(({ length }) => length)).toEqual([4_096, 4_096, 808]);
    for (let i = 0; i < 10; i++) body.add(read, i, i + 1);
    body.finish();
    await until(() => body.readableEnded);
    expect(chunks.at(-1)!.length).toBe(10);
    expect(seen.consumed).toBe(9_010);
  });

  it('passes small chunks in buffers of their own size', async () => {
    const { body, add } = makeBody();
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    for (let i = 0; i < 200; i++) {
      await settle(1);
      add('x');
    }
    await settle();
    expect(chunks.length).toBeGreaterThan(100);
    const kept = new Set(chunks.map(({ buffer }) => buffer));
    // Node.js cuts small buffers from a pool, of 8 KiB or (since 24) of 64 KiB.
    const bytesMax = 2 * Math.max(Buffer.poolSize, 32 * 1024);
    expect([...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(bytesMax);
  });

  it('counts waiting and later bytes as consumed after destroy()', async () => {
    const { body, add, seen } = makeBody();
    add('abc');
    body.destroy(new Error('the attempt failed'));
    expect(seen.consumed).toBe(3);
    add('defg');
    body.finish();
    await settle();
    expect(seen.consumed).toBe(7);
  });

  it('fails its reader with unexpected EOF when broken off before the end, not after it', async () => {
    const broken = makeBody();
    broken.add('abc');
    const outcome = textOf(broken.body).catch((error: Error) => error.message);
    await settle();
    broken.body.breakOff();
    expect(await outcome).toMatch(/unexpected EOF/);
    const whole = makeBody();
    whole.add('abc');
    const text = textOf(whole.body);
    await settle();
    whole.body.finish();
    whole.body.breakOff();
    expect(await text).toBe('abc');
  });

  it('consumes all bytes when its reader destroys it inside a data event', async () => {
    const { body, add, seen } = makeBody();
    for (let i = 0; i < 5; i++) add('x'.repeat(5_000));
    body.on('data', () => body.destroy());
    await settle();
    add('more');
    expect(seen.consumed).toBe(25_004);
  });
});
