import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { pathOf } from '../../../src/kube/resource-kind.js';
import { call } from '../../real/rig/http-client.js';
import { ControllerScene } from '../clients/controller-scene.js';
import { MeasuredClient, phase } from '../clients/measured-client.js';
import { newerObject } from '../clients/newer-object.js';
import { CutConnections, retriedGet } from '../clients/retried-get.js';
import type { Step } from './run-context.js';

const MIXED_MS = 5_000;
const READS_PER_SECOND = 20;

/** The same control plane, whose Straddles are uninstalled: what they prevent. */
export const contrast: Step = {
  name: 'for contrast, without Straddle: one node upgraded, the same reads and the same controllers',
  async run({ cluster, newer, kind, say }) {
    const [first] = cluster.nodes;
    await cluster.announce(newer);
    await cluster.upgrade(first!, newer, 'kubeadm upgrade node');
    const capable = cluster.adminAt(first!);
    const name = 'contrast';
    const collection = pathOf(kind, 'default');
    const created = await call(capable, collection, { method: 'POST', body: newerObject(kind, name) });
    assert.equal(created.status, 201, created.text);
    const cuts = new CutConnections();
    const reader = new MeasuredClient({
      name: 'reads of 1.37’s API through HAProxy',
      ratePerSecond: READS_PER_SECOND,
      good: [200],
      send: () => retriedGet(cluster.admin, `${collection}/${name}`, { cuts }),
    });
    const mixed = await phase('mixed', async () => {
      await delay(MIXED_MS);
      await reader.stop();
    });
    const scene = await ControllerScene.start(capable, kind, 'contrast');
    const harm = await scene.harm();
    const sent = reader.sentIn(mixed);
    const wrong = sent.filter(({ status }) => status === 404).length;
    say(`  ${wrong} of ${sent.length} reads of an object that exists got 404`);
    for (const each of harm) say(`  ${each}`);
    if (wrong + harm.length === 0) say('  nothing went wrong without Straddle: this run shows no difference');
  },
};
