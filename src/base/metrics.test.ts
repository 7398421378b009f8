import { describe, expect, it } from 'vitest';
import { createMetrics } from './metric-catalogue.js';
import { MetricRegistry } from './metrics.js';

describe('metrics', () => {
  it('render counters and gauges with help, type and escaped labels', () => {
    const registry = new MetricRegistry();
    const requests = registry.counter('requests_total', 'All of them.', ['path', 'code']);
    requests.labels('/a"b\\c\n', '200').inc();
    requests.labels('/a"b\\c\n', '200').inc(2);
    registry.gauge('up', 'Whether.').labels().set(1);
    expect(registry.render()).toBe(
      [
        '# HELP requests_total All of them.',
        '# TYPE requests_total counter',
        'requests_total{path="/a\\"b\\\\c\\n",code="200"} 3',
        '# HELP up Whether.',
        '# TYPE up gauge',
        'up 1',
        '',
      ].join('\n'),
    );
  });

  it('render histograms cumulatively, values on a bound included, all others under +Inf', () => {
    const registry = new MetricRegistry();
    const seconds = registry.histogram('seconds', 'Time.', [0.1, 1], ['verb']).labels('get');
    for (const value of [0.1, 0.5, 7]) seconds.observe(value);
    const page = registry.render();
    expect(page).toContain('seconds_bucket{verb="get",le="0.1"} 1\n');
    expect(page).toContain('seconds_bucket{verb="get",le="1"} 2\n');
    expect(page).toContain('seconds_bucket{verb="get",le="+Inf"} 3\n');
    expect(page).toContain('seconds_sum{verb="get"} 7.6\n');
    expect(page).toContain('seconds_count{verb="get"} 3\n');
  });

  it('are filled by their collectors before each page', () => {
    const registry = new MetricRegistry();
    const gauge = registry.gauge('g', 'G.', ['peer']);
    let peers = ['a', 'b'];
    registry.collect(() => {
      gauge.reset();
      for (const peer of peers) gauge.labels(peer).set(1);
    });
    expect(registry.render()).toContain('g{peer="b"} 1');
    peers = ['a'];
    expect(registry.render()).not.toContain('peer="b"');
  });

  it('keep a bounded number of series for any label values', () => {
    const registry = new MetricRegistry();
    const counter = registry.counter('c', 'C.', ['x']);
    for (let i = 0; i < 30_000; i++) counter.labels(String(i)).inc();
    const page = registry.render();
    expect(page.split('\n').length).toBeLessThan(20_010);
    expect(page).toContain('c{x="other"} 10000');
  });

  it('keep series apart whose label values are the same when joined', () => {
    const registry = new MetricRegistry();
    const counter = registry.counter('c', 'C.', ['x', 'y']);
    counter.labels('a', 'b,c').inc();
    counter.labels('a,b', 'c').inc();
    expect(registry.render().match(/ 1$/gm)).toHaveLength(2);
  });
});

describe('metrics of several processes', () => {
  function declared() {
    const registry = new MetricRegistry();
    return {
      registry,
      counter: registry.counter('c', 'C.', ['x']),
      gauge: registry.gauge('g', 'G.'),
      histogram: registry.histogram('h', 'H.', [1, 10], ['verb']),
    };
  }

  it('are added up, series of only one process included', () => {
    const [a, b, sum] = [declared(), declared(), declared()];
    a.counter.labels('both').inc(2);
    b.counter.labels('both').inc(3);
    b.counter.labels('"one"').inc();
    a.registry.collect(() => a.gauge.labels().set(4));
    b.gauge.labels().set(5);
    for (const value of [0.5, 5]) a.histogram.labels('get').observe(value);
    for (const value of [5, 50]) b.histogram.labels('get').observe(value);
    // Copied as by a channel between processes.
    for (const { registry } of [a, b]) sum.registry.add(structuredClone(registry.export()));
    const together = declared();
    together.counter.labels('both').inc(5);
    together.counter.labels('"one"').inc();
    together.gauge.labels().set(9);
    for (const value of [0.5, 5, 5, 50]) together.histogram.labels('get').observe(value);
    expect(sum.registry.render()).toBe(together.registry.render());
  });

  it('keep a bounded number of series, and ignore unknown families', () => {
    const [many, more, sum] = [declared(), declared(), declared()];
    for (let i = 0; i < 15_000; i++) many.counter.labels(`a${i}`).inc();
    for (let i = 0; i < 15_000; i++) more.counter.labels(`b${i}`).inc();
    for (const { registry } of [many, more]) sum.registry.add(registry.export());
    sum.registry.add([{ name: 'unknown', kind: 'counter', children: [['', '', [1]]] }]);
    const page = sum.registry.render();
    expect(page).toContain('c{x="other"} 10000');
    expect(page).not.toContain('unknown');
  });
});

describe('the catalogue of metrics', () => {
  it('has each metric name once, and the names that kube-apiserver uses', () => {
    const names = [
      ...createMetrics()
        .registry.render()
        .matchAll(/^# TYPE (\S+)/gm),
    ].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([
        'apiserver_rerouted_request_total',
        'apiserver_peer_proxy_errors_total',
        'apiserver_peer_discovery_sync_errors_total',
        'aggregator_discovery_peer_aggregated_cache_hits_total',
        'aggregator_discovery_peer_aggregated_cache_misses_total',
        'aggregator_discovery_nopeer_requests_total',
        'kubernetes_feature_enabled',
        'apiserver_request_total',
        'apiserver_request_duration_seconds',
      ]),
    );
  });
});
