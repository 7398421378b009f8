import { PassThrough, type Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Exchange } from './exchange.js';
import { GATHERED_BYTES_MAX, gatherSmallBody, takeBody } from './gather-body.js';

function exchangeWith(body: Readable | null, headers: string[], upgrade = false): Exchange {
  const connection = { remoteAddress: '', certificateChain: [] };
  return new Exchange({ method: 'POST', target: '/', headers, body, connection, upgrade }, 0);
}

describe('gatherSmallBody', () => {
  it('reads a small body with Content-Length, which can then be taken several times', async () => {
    const body = new PassThrough();
    const exchange = exchangeWith(body, ['content-LENGTH', '6']);
    body.write('abc');
    body.end('def');
    await gatherSmallBody(exchange);
    expect(Buffer.from(takeBody(exchange) as Uint8Array).toString()).toBe('abcdef');
    expect(takeBody(exchange)).toBe(takeBody(exchange));
    expect(exchange.bodyTouched).toBe(false);
  });

  it.each([
    ['too large', ['Content-Length', String(GATHERED_BYTES_MAX + 1)]],
    ['of unknown length', ['Transfer-Encoding', 'chunked']],
    ['of nonsensical length', ['Content-Length', 'many']],
  ])('leaves a body that is %s to stream', async (_, headers) => {
    const body = new PassThrough();
    const exchange = exchangeWith(body, headers);
    await gatherSmallBody(exchange);
    expect(exchange.gatheredBody).toBeUndefined();
    expect(body.readableDidRead).toBe(false);
    expect(takeBody(exchange)).toBe(body);
    expect(exchange.bodyTouched).toBe(true);
  });

  it('gathers at most once, and never the body of an upgrade request', async () => {
    const exchange = exchangeWith(new PassThrough(), ['Content-Length', '1']);
    exchange.gatheredBody = Buffer.from('x');
    await gatherSmallBody(exchange);
    const upgrade = exchangeWith(new PassThrough(), ['Content-Length', '1'], true);
    await gatherSmallBody(upgrade);
    expect(upgrade.gatheredBody).toBeUndefined();
  });

  it('rejects when the body fails or the client disconnects, before or during the read', async () => {
    const broken = new PassThrough();
    const first = gatherSmallBody(exchangeWith(broken, ['Content-Length', '9']));
    broken.destroy(new Error('broken'));
    await expect(first).rejects.toThrow('broken');

    const leaving = exchangeWith(new PassThrough(), ['Content-Length', '9']);
    const second = gatherSmallBody(leaving);
    leaving.abort();
    await expect(second).rejects.toThrow('left');
    await expect(gatherSmallBody(leaving)).rejects.toThrow('left');
  });
});
