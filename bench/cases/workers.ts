import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../../test/real/rig/control-plane.js';
import { eventually } from '../../test/real/rig/eventually.js';
import { freePort } from '../../test/real/rig/free-port.js';
import { call } from '../../test/real/rig/http-client.js';
import { Straddle } from '../../test/real/rig/straddle.js';
import type { BenchCase, BenchContext, CaseResult, Row } from '../bench-case.js';
import { hold } from '../contest.js';
import { type Contestant, CPU, probe, STRADDLE } from '../contestants/contestant.js';
import { JOB, type Pair, startPair } from '../contestants/pair.js';
import { LATENCY, MeasuredLoad, THROUGHPUT } from '../load/measured-load.js';
import { familyOf, residentMb } from '../process-cost.js';
import { rowOf } from '../statistics.js';

const CASE = 'workers';
const MORE = 2;

export const workers: BenchCase = {
  name: CASE,
  text: 'GET of a Job, local and rerouted, with --workers=1 and --workers=2 side by side',
  async run(context) {
    const pair = await startPair(context);
    const { plane } = pair;
    const several = {
      local: await startSeveral(plane.b, plane.a, pair, context),
      reroute: await startSeveral(plane.a, plane.b, pair, context),
    };
    const results: CaseResult[] = [];
    for (const way of ['local', 'reroute'] as const) {
      const contestants = [
        { ...pair[way], name: `${pair[way].name}, 1 worker` },
        contestant(several[way], `${STRADDLE}, ${way}, ${MORE} workers`),
      ];
      results.push(await measure(contestants, pair, context));
    }
    await Promise.all(Object.values(several).map((each) => each.stop()));
    await pair.stop();
    return { rows: results.flatMap(({ rows }) => rows), bars: [] };
  },
};

async function measure(contestants: readonly Contestant[], pair: Pair, context: BenchContext): Promise<CaseResult> {
  const { bytes } = await probe(pair.direct, pair.caller, JOB, { text: '"name":"one"' });
  for (const each of contestants) await probe(each, pair.caller, JOB, { text: '"name":"one"' });
  const asked = { path: JOB, headers: {}, expected: { status: 200, bytesMin: bytes, bytesMax: bytes } };
  const load = new MeasuredLoad(pair.caller);
  // Each worker compiles its own code: several of them are warm only after as many times the requests.
  for (let i = 0; i < MORE; i++) for (const each of contestants) await load.throughput(each, asked);
  const result = await hold(
    {
      case: CASE,
      contestants: contestants.map(({ name }) => name),
      metrics: { [THROUGHPUT]: '1/s', [LATENCY]: 'ms', [CPU]: 'µs' },
      measure: (name) => load.both(contestants.find((each) => each.name === name)!, asked),
    },
    context,
  );
  return { rows: [...result.rows, ...contestants.map(memoryOf)], bars: [] };
}

/** Of all its processes, after the load. Pages that they share are counted in each. */
function memoryOf({ name, proxyPid }: Contestant): Row {
  const mb = familyOf(proxyPid!).reduce((sum, pid) => sum + residentMb(pid), 0);
  return rowOf({ case: CASE, contestant: name, metric: 'memory after the load', unit: 'MB' }, [mb]);
}

function contestant(straddle: Straddle, name: string): Contestant {
  return { name, url: straddle.url, proxyPid: straddle.process!.pid };
}

/**
 * Another Straddle before a server that has one. With a lease it would confuse those that have one for the same server, so
 * it gets an identity that may not keep any, and is told its peer.
 */
async function startSeveral(
  { name, kube, straddle }: Server,
  peer: Server,
  { plane, caller }: Pair,
  { dir }: BenchContext,
): Promise<Straddle> {
  const { address } = straddle.options;
  const several = new Straddle({
    ...straddle.options,
    name: `${name}-workers`,
    hostname: `node-${name}-workers`,
    port: await freePort(address),
  });
  const kubeconfig = join(dir, `nobody-${name}`);
  writeFileSync(kubeconfig, nobodyAt(kube.url, plane.pki.ca.certFile));
  await several.start({ workers: String(MORE), kubeconfig, 'peer-sources': '', peer: peer.kube.url });
  await eventually(
    `${several.url} answers ${JOB}`,
    async () => (await call({ url: several.url, ...caller }, JOB)).status === 200,
  );
  return several;
}

/** JSON is YAML. */
function nobodyAt(server: string, caFile: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    clusters: [{ name: 'it', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'nobody', user: { token: 'nobody' } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'nobody' } }],
  });
}
