import { describe, expect, it } from 'vitest';
import type { Handler } from '../../http/exchange.js';
import { exchangeFor } from '../discovery/exchange.fixture.js';
import { passthroughFilter } from './passthrough-filter.js';

const answer =
  (status: number): Handler =>
  async () => ({ status, headers: [], body: null });

describe('passthrough filter', () => {
  const passthrough = { state: { on: false, sinceMs: 0, reason: '' } };
  const handler = passthroughFilter({ passthrough, local: answer(201) }).wrap(answer(202));
  const status = async (path: string, peerProxied = false) => {
    const exchange = exchangeFor(path);
    exchange.peerProxied = peerProxied;
    return (await handler(exchange)).status;
  };

  it('passes every request on while it is off', async () => {
    expect(await Promise.all([status('/apis'), status('/api/v1/pods'), status('/version')])).toEqual([202, 202, 202]);
  });

  it('sends every request to the local server while it is on, from the next request', async () => {
    passthrough.state = { on: true, sinceMs: 0, reason: '' };
    expect(await Promise.all([status('/apis'), status('/api/v1/pods'), status('/version')])).toEqual([201, 201, 201]);
    expect(await status('/api/v1/pods', true)).toBe(202);
    passthrough.state = { on: false, sinceMs: 0, reason: '' };
    expect(await status('/apis')).toBe(202);
  });
});
