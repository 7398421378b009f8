import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { kubeProgram } from '../rig/binaries.js';
import { type ControlPlane, layoutOf, type Server } from '../rig/control-plane.js';
import { ControllerManager } from '../rig/controller-manager.js';
import { eventually } from '../rig/eventually.js';
import { call, type KubeObject } from '../rig/http-client.js';
import { PROTOBUF_TYPE } from '../rig/informer.js';
import type { Scenario, ScenarioContext } from '../scenario.js';
import { outcomesSince, watchContinuations } from './watches/continuations.js';
import { JobWriter, job, jobsIn } from './watches/job-writer.js';

const VERSION = 'v1.37.1';
const ADDRESS = '127.0.0.32';
const CONTROLLERS = [
  'cronjob-controller',
  'garbage-collector-controller',
  'job-controller',
  'ttl-after-finished-controller',
];
/** Writes to be acknowledged before and after a server is killed. */
const WRITES = 40;
const PATIENCE = { timeoutMs: 60_000 };
/** How client-go logs that a watch did not go on. */
const ENDED_WATCH = /watch ended with error|watch closed|watch-list failed|unable to decode an event/i;

export const controllerManagerWatches: Scenario = {
  number: 48,
  name: 'kube-controller-manager 1.37 (protobuf) behind A, kill -9 of the server of its Job watches under load: no watch ends',
  timeoutMs: 240_000,
  programs: () => [kubeProgram('kube-controller-manager', VERSION)],
  async run(context) {
    const { plane } = context;
    await plane.arrange(layoutOf('batch'));
    const namespace = await context.namespace();
    const positions = new Map(plane.all.map((server) => [server, server.kube.auditPosition()]));
    const manager = await startManager(context);
    await worksOn(plane, namespace, 'before-the-kill');

    const watched = (server: Server): string[] => batchWatches(server, positions.get(server) ?? 0);
    const [from, to] = watched(plane.b).length > watched(plane.c).length ? [plane.b, plane.c] : [plane.c, plane.b];
    const lost = watched(from).length;
    assert.ok(lost > 0, 'neither B nor C serves a watch of kube-controller-manager');
    const continuationsBefore = await watchContinuations(plane.a.straddle.admin);
    const writer = new JobWriter(plane.a.straddle.admin, namespace);
    context.defer(() => writer.stop().catch(() => {}));
    await moreWrites(writer);
    const position = to.kube.auditPosition();
    await from.kube.kill();
    await eventually(`${lost} watches go on at ${to.name}`, () => batchWatches(to, position).length >= lost, PATIENCE);
    await moreWrites(writer);
    await writer.stop();

    await worksOn(plane, namespace, 'after-the-kill');
    const ends = manager.process
      .log()
      .split('\n')
      .filter((line) => ENDED_WATCH.test(line));
    assert.deepEqual(ends, [], `the log of kube-controller-manager (${manager.process.options.logFile})`);
    const outcomes = outcomesSince(continuationsBefore, await watchContinuations(plane.a.straddle.admin));
    assert.deepEqual(outcomes, { continued: lost });
  },
};

async function startManager({ plane, defer }: ScenarioContext): Promise<ControllerManager> {
  const dir = join(plane.dir, 'controller-manager-watches');
  mkdirSync(dir, { recursive: true });
  const manager = await ControllerManager.start({
    dir,
    pki: plane.pki,
    address: ADDRESS,
    serverUrl: plane.a.straddle.url,
    controllers: CONTROLLERS,
    version: VERSION,
    contentType: PROTOBUF_TYPE,
  });
  defer(() => manager.process.stop());
  return manager;
}

/** Waits until the controller has made the pod of a new Job, which A itself does not serve. */
async function worksOn({ a }: ControlPlane, namespace: string, name: string): Promise<void> {
  const created = await call(a.straddle.admin, jobsIn(namespace), { method: 'POST', body: job(name) });
  assert.equal(created.status, 201, created.text);
  const pods = `/api/v1/namespaces/${namespace}/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3D${name}`;
  await eventually(
    `job ${name} has a pod`,
    async () => {
      const { items } = (await call(a.straddle.admin, pods)).json() as unknown as { items: KubeObject[] };
      return items.length > 0;
    },
    PATIENCE,
  );
}

async function moreWrites(writer: JobWriter): Promise<void> {
  const wanted = writer.written.length + WRITES;
  await eventually(`${WRITES} more writes`, () => writer.written.length >= wanted, PATIENCE);
}

/** The watches of batch/v1 by kube-controller-manager in the audit log of a server, each once. */
function batchWatches({ kube }: Server, position: number): string[] {
  const watches = kube
    .auditSince(position)
    .filter(
      ({ verb, requestURI, userAgent }) =>
        verb === 'watch' && requestURI.startsWith('/apis/batch/') && userAgent?.startsWith('kube-controller-manager'),
    );
  return [...new Set(watches.map(({ auditID }) => auditID))];
}
