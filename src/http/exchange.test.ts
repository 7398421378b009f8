import { describe, expect, it } from 'vitest';
import { chain, Exchange, type Filter } from './exchange.js';

const init = {
  method: 'GET',
  target: '/',
  headers: [],
  body: null,
  connection: { remoteAddress: '', certificateChain: [] },
};

describe('Exchange', () => {
  it('calls each abort listener once, and late ones at once', () => {
    const exchange = new Exchange(init, 0);
    const heard: string[] = [];
    exchange.onAbort(() => heard.push('a'));
    exchange.onAbort(() => heard.push('b'))();
    exchange.abort();
    exchange.abort();
    exchange.onAbort(() => heard.push('late'));
    expect(heard).toEqual(['a', 'late']);
    expect(exchange.aborted).toBe(true);
  });
});

describe('chain', () => {
  it('runs its filters in the order given, outermost first', async () => {
    const order: string[] = [];
    const filter = (name: string): Filter => ({
      name,
      wrap: (next) => async (exchange) => {
        order.push(`${name} in`);
        const reply = await next(exchange);
        order.push(`${name} out`);
        return reply;
      },
    });
    const handler = chain([filter('a'), filter('b')], async () => ({ status: 200, headers: [], body: null }));
    await handler(new Exchange(init, 0));
    expect(order).toEqual(['a in', 'b in', 'b out', 'a out']);
  });
});
