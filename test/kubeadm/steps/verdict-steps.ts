import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { eventually } from '../../real/rig/eventually.js';
import { summary } from '../../real/rig/load.js';
import { errorsOf, gapsOf } from '../clients/informers.js';
import type { MeasuredClient, Phase } from '../clients/measured-client.js';
import type { RunContext, Step } from './run-context.js';

/** In these nothing may fail. During an installation the node's address answers nobody for the time of a restart. */
const STRICT = /^(upgrade|rollback)/;
const PATIENCE = { timeoutMs: 30_000 };

export const readsAnswered: Step = {
  name: 'upgrade and rollback: no wrong 404, and no failed GET of any client',
  async run({ clients, phases, say }) {
    say(table(clients.all, phases));
    say(`  GETs sent again because their connection was cut before any answer: ${clients.cuts.count}`);
    say(
      `  longest time for which the process of the clients did not run: ${(clients.longestStallMs / 1000).toFixed(1)} s`,
    );
    const readers = [...clients.clients, ...clients.newer];
    const wrong: string[] = [];
    for (const phase of phases.filter(({ name }) => STRICT.test(name))) {
      for (const client of readers) {
        const failed = client.failedIn(phase);
        if (failed.length > 0) wrong.push(`${phase.name}, ${client.name}: ${summary(failed)}`);
        const isLong = !clients.newer.includes(client) && phase.toMs - phase.fromMs > 10_000;
        assert.ok(!isLong || client.sentIn(phase).length > 0, `${client.name} did not ask in ${phase.name}`);
      }
    }
    assert.deepEqual(wrong, []);
    const asked = clients.newer.map((client) => phases.reduce((sum, phase) => sum + client.sentIn(phase).length, 0));
    assert.ok(asked.length > 0 && asked.every((count) => count > 5), `reads of the newer API: ${asked.join(', ')}`);
  },
};

export const writesKept: Step = {
  name: 'no write was lost and none carried out twice; upgrade and rollback: those whose outcome is not known got 503',
  async run({ clients, phases, say }) {
    const { acknowledged, lost, doubled } = await clients.ledger.verdict();
    say(`  ${acknowledged} writes acknowledged, ${lost.length} lost, ${doubled.length} doubled`);
    assert.deepEqual({ lost, doubled }, { lost: [], doubled: [] });
    assert.ok(acknowledged > 100, `${acknowledged} writes`);
    const failed = phases.filter(({ name }) => STRICT.test(name)).flatMap((phase) => clients.ledger.failedIn(phase));
    // A server that stops may close a connection under a request. Whether a write was carried out is not known then.
    if (failed.length > 0) say(`  during upgrade and rollback: ${summary(failed)}`);
    assert.ok(failed.length <= phases.length, `${failed.length} writes failed`);
    assert.deepEqual(new Set(failed.map(({ status }) => status)), new Set(failed.length > 0 ? [503] : []));
  },
};

export const informersComplete: Step = {
  name: 'informers of @kubernetes/client-node and client-go got every change once',
  async run({ clients, say }) {
    const { nodeInformer, goInformer, ledger } = clients;
    const written = clients.jobs.written;
    await eventually('client-node has all', () => nodeInformer.missed(ledger).length === 0, PATIENCE).catch(() => {});
    await eventually('client-go has all', () => gapsOf(goInformer, written).length === 0, PATIENCE).catch(() => {});
    const errors = errorsOf(goInformer);
    say(`  client-node: ${nodeInformer.added.size} ConfigMaps, started anew ${nodeInformer.restarts} times`);
    say(
      `  client-go: ${written.length} changes of Jobs, ${goInformer.of('request').length} requests, ${errors.length} errors`,
    );
    await clients.stopInformers();
    assert.deepEqual(nodeInformer.missed(ledger), []);
    assert.deepEqual(nodeInformer.wrong, []);
    assert.deepEqual(gapsOf(goInformer, written), [], errors.slice(0, 5).join('\n'));
    assert.ok(written.length > 100, `${written.length} changes`);
  },
};

export const podsSteady: Step = {
  name: 'upgrade and rollback: no static pod ended by itself or failed a probe',
  async run({ cluster, phases }: RunContext) {
    const strict = phases.filter(({ name }) => STRICT.test(name));
    const crashes = cluster.nodes.flatMap(({ name, pods }) =>
      pods
        .crashes()
        .filter(({ atMs }) => strict.some((phase) => contains(phase, atMs - performance.timeOrigin)))
        .map(({ pod, event, detail }) => `${name}: ${pod} ${event} (${detail})`),
    );
    assert.deepEqual(crashes, []);
  },
};

function contains({ fromMs, toMs }: Phase, atMs: number): boolean {
  return atMs >= fromMs && atMs < toMs;
}

/** For each client and phase: requests, those that failed, and the longest time without a good answer. */
function table(clients: readonly MeasuredClient[], phases: readonly Phase[]): string {
  const width = Math.max(...clients.map(({ name }) => name.length));
  const cell = (client: MeasuredClient, phase: Phase): string => {
    const sent = client.sentIn(phase).length;
    if (sent === 0) return '–'.padStart(22);
    const silence = `${(client.longestSilenceMs(phase) / 1000).toFixed(1)} s`;
    return `${sent} / ${client.failedIn(phase).length} / ${silence}`.padStart(22);
  };
  return [
    '  requests / failed / longest time without a good answer',
    `  ${''.padEnd(width)}${phases.map(({ name }) => name.padStart(22)).join('')}`,
    ...clients.map((client) => `  ${client.name.padEnd(width)}${phases.map((each) => cell(client, each)).join('')}`),
  ].join('\n');
}
