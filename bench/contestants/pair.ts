import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ControlPlane } from '../../test/real/rig/control-plane.js';
import { eventually } from '../../test/real/rig/eventually.js';
import { call, type Endpoint } from '../../test/real/rig/http-client.js';
import type { KubeSettings } from '../../test/real/rig/kube-apiserver.js';
import type { StraddleFlags } from '../../test/real/rig/straddle.js';
import type { BenchContext } from '../bench-case.js';
import { type Caller, type Contestant, DIRECT, NATIVE, STRADDLE } from './contestant.js';

const TOKEN = 'bench-token';
const NAMESPACE = 'bench';
/** The native feature looks at its peers at its own pace. */
const NATIVE_TIMEOUT_MS = 60_000;

export const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
export const JOB = `${JOBS}/one`;

/**
 * Two kube-apiservers 1.36.4 on one etcd, their own mixed version proxy on in both, a Straddle before each. A does not
 * serve batch/v1, so a Job asked of A comes from B by way of A's native proxy, or of A's Straddle.
 */
export interface Pair {
  readonly plane: ControlPlane;
  readonly caller: Caller;
  readonly direct: Contestant;
  readonly native: Contestant;
  /** A's, which sends Jobs to B. */
  readonly reroute: Contestant;
  /** B's, which passes Jobs to the server behind it. */
  readonly local: Contestant;
  stop(): Promise<void>;
}

export async function startPair({ dir, say }: BenchContext, straddleFlags: StraddleFlags = {}): Promise<Pair> {
  const tokens = join(dir, 'tokens.csv');
  mkdirSync(dir, { recursive: true });
  writeFileSync(tokens, `${TOKEN},bench,bench,"system:masters"\n`);
  const plane = await ControlPlane.create(dir, say);
  await plane.arrange({
    kube: { a: kube(tokens, '--runtime-config=batch/v1=false'), b: kube(tokens), c: undefined },
    straddle: { a: straddleFlags, b: straddleFlags, c: undefined },
  });
  const { a, b, pki } = plane;
  const caller = { ca: pki.ca.certPem, caFile: pki.ca.certFile, token: TOKEN };
  await createJob({ url: b.kube.url, ...caller });
  const pair: Pair = {
    plane,
    caller,
    direct: { name: DIRECT, url: b.kube.url, proxyPid: undefined },
    native: { name: NATIVE, url: a.kube.url, proxyPid: undefined },
    reroute: { name: `${STRADDLE}, reroute`, url: a.straddle.url, proxyPid: a.straddle.process!.pid },
    local: { name: `${STRADDLE}, local`, url: b.straddle.url, proxyPid: b.straddle.process!.pid },
    stop: () => plane.stop(),
  };
  for (const { name, url } of [pair.direct, pair.native, pair.reroute, pair.local]) {
    await eventually(`${name} answers ${JOB}`, async () => (await call({ url, ...caller }, JOB)).status === 200, {
      timeoutMs: NATIVE_TIMEOUT_MS,
    });
  }
  return pair;
}

/** Flags without the audit log, which only scenarios read. */
function kube(tokens: string, ...flags: string[]): KubeSettings {
  return {
    version: 'v1.36.4',
    native: true,
    flags: ['--audit-log-path=', '--audit-policy-file=', `--token-auth-file=${tokens}`, ...flags],
  };
}

async function createJob(server: Endpoint): Promise<void> {
  for (const [path, body] of [
    ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }],
    [JOBS, job('one')],
  ] as const) {
    const answer = await call(server, path, { method: 'POST', body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  }
}

/** About 1.8 kB as it is answered. Suspended: nothing here runs Jobs. */
export function job(name: string, more: object = {}): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, annotations: { note: 'x'.repeat(320) }, ...more },
    spec: {
      suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/main:1' }] } },
    },
  };
}
