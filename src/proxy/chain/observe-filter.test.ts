import { describe, expect, it } from 'vitest';
import { createLogger, type LogLevel } from '../../base/logger.js';
import { createMetrics } from '../../base/metric-catalogue.js';
import type { Exchange } from '../../http/exchange.js';
import { exchangeFor } from '../discovery/exchange.fixture.js';
import { observeFilter } from './observe-filter.js';

async function observed(target: string, prepare: (exchange: Exchange) => void = () => {}, level: LogLevel = 'debug') {
  const metrics = createMetrics();
  const lines: string[] = [];
  const logger = createLogger({ level, format: 'json', write: (line) => lines.push(line), nowMs: () => 0 });
  const filter = observeFilter({ metrics, logger, known: ({ info }) => info.resource === 'pods' });
  const exchange = exchangeFor(target);
  prepare(exchange);
  await filter.wrap(async () => ({ status: 200, headers: [], body: null }))(exchange);
  return { page: metrics.registry.render(), lines };
}

describe('observe filter', () => {
  it('counts and times requests for known resources by verb and resource', async () => {
    const { page } = await observed('/api/v1/namespaces/x/pods/p/status');
    expect(page).toContain(
      'apiserver_request_total{verb="get",group="",version="v1",resource="pods",subresource="status",code="200"} 1',
    );
    expect(page).toContain('apiserver_request_duration_seconds_count{verb="get"} 1');
    expect(page).toContain('straddle_added_latency_seconds_count{route="own"} 1');
  });

  it('keeps names made up by clients out of metric labels', async () => {
    const { page } = await observed('/apis/made/v1/up');
    expect(page).not.toContain('made');
    expect(page).toContain('verb="unknown"');
    expect((await observed('/made-up')).page).not.toContain('made-up');
  });

  it('does not time long-running requests', async () => {
    const { page } = await observed('/api/v1/pods?watch=1');
    expect(page).toContain('verb="watch"');
    expect(page).not.toContain('apiserver_request_duration_seconds_bucket{verb="watch"');
  });

  it('logs rerouted requests only, at debug level', async () => {
    const reroute = (exchange: Exchange) => {
      exchange.routed = { to: 'b', why: 'only peers serve it' };
    };
    const { lines } = await observed('/api/v1/pods', reroute);
    expect(JSON.parse(lines[0]!)).toMatchObject({ to: 'b', why: 'only peers serve it', code: 200 });
    expect((await observed('/api/v1/pods', reroute, 'info')).lines).toEqual([]);
    expect((await observed('/api/v1/pods')).lines).toEqual([]);
  });
});
