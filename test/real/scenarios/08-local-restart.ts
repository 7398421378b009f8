import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { layoutOf } from '../rig/control-plane.js';
import { eventually } from '../rig/eventually.js';
import { call, type KubeObject, keepAliveAgent } from '../rig/http-client.js';
import { Load, type Outcome, summary } from '../rig/load.js';
import type { Scenario, ScenarioContext } from '../scenario.js';

const GETS_PER_SECOND = 100;
const WRITES_PER_SECOND = 20;
/** Writes take some 20 ms each; a busy machine makes it more. */
const WRITES_UNDER_WAY_MAX = 4;

export const localRestart: Scenario = {
  number: 8,
  name: 'A’s kube-apiserver stops and starts under load: no GET fails, no unsent write fails, each write applied exactly once',
  async run(context) {
    const { plane } = context;
    await plane.arrange(layoutOf('default'));
    const { kube } = plane.a;
    const settings = kube.settings ?? assert.fail();
    for (const end of ['stop', 'kill'] as const) {
      await underLoad(context, end, async (loads) => {
        const fromMs = performance.now();
        await kube[end]();
        const toMs = performance.now();
        await moreAnswers(loads, 3);
        await kube.start(settings);
        await moreAnswers(loads, 3);
        return { fromMs, toMs };
      });
    }
  },
};

/** While the server was on its way down. */
interface GoingDown {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Loads {
  readonly gets: Load;
  readonly writes: Load;
}

/** Waits until the loads have run on for about these many seconds. */
async function moreAnswers({ gets, writes }: Loads, seconds: number): Promise<void> {
  const target = gets.count() + GETS_PER_SECOND * seconds;
  const writesTarget = writes.count() + WRITES_PER_SECOND * seconds * 0.8;
  await eventually('the loads go on', () => gets.count() >= target && writes.count() >= writesTarget, {
    timeoutMs: seconds * 1000 + 15_000,
  });
}

async function underLoad(
  { plane, namespace, defer }: ScenarioContext,
  end: string,
  work: (loads: Loads) => Promise<GoingDown>,
): Promise<void> {
  const ns = await namespace();
  const collection = `/api/v1/namespaces/${ns}/configmaps`;
  const { admin } = plane.a.straddle;
  await call(admin, collection, { method: 'POST', body: { metadata: { name: 'read' } } });
  const agent = keepAliveAgent(20);
  defer(() => agent.destroy());
  const gets = new Load({
    ratePerSecond: GETS_PER_SECOND,
    send: () => call(admin, `${collection}/read`, { agent }),
  });
  const writes = new Load({
    ratePerSecond: WRITES_PER_SECOND,
    // A generated name: a write that is carried out twice leaves two objects, not one and a conflict.
    send: (index) =>
      call(admin, collection, {
        method: 'POST',
        agent,
        body: { metadata: { generateName: 'write-', labels: { index: String(index) } } },
      }),
  });
  defer(() => Promise.all([gets.stop(), writes.stop()]));
  await moreAnswers({ gets, writes }, 2);
  const goingDown = await work({ gets, writes });
  const [got, written] = await Promise.all([gets.stop(), writes.stop()]);
  assert.ok(
    got.every(({ status }) => status === 200),
    `${end}: GETs: ${summary(got)}`,
  );
  const list = await call(plane.b.kube.admin, `${collection}?labelSelector=index`);
  eachWriteOnce({ end, goingDown, written, stored: list.json<{ items: KubeObject[] }>().items });
}

interface Writes {
  readonly end: string;
  readonly goingDown: GoingDown;
  readonly written: readonly Outcome[];
  readonly stored: readonly KubeObject[];
}

function eachWriteOnce({ end, goingDown, written, stored }: Writes): void {
  const copies = new Map<string, number>();
  for (const { metadata } of stored) {
    const index = metadata?.labels?.['index'] ?? '';
    copies.set(index, (copies.get(index) ?? 0) + 1);
  }
  // A write that was with the server when it died may have been applied, so it must not be sent again: a 503 that says
  // so. There can be no more of them than were under way at that moment, and none at any other time.
  const failed = written.filter(({ status }) => status !== 201);
  const excused = failed.filter(
    ({ status, startedMs, tookMs }) =>
      status === 503 && startedMs <= goingDown.toMs && startedMs + tookMs >= goingDown.fromMs,
  );
  assert.equal(failed.length, excused.length, `${end} (${JSON.stringify(goingDown)}): ${summary(failed)}`);
  assert.ok(failed.length <= WRITES_UNDER_WAY_MAX, `${end}: too many writes failed: ${summary(failed)}`);
  for (const { index, status } of written) {
    const count = copies.get(String(index)) ?? 0;
    assert.ok(
      status === 201 ? count === 1 : count <= 1,
      `${end}: write ${index} (${status}) was applied ${count} times`,
    );
  }
}
