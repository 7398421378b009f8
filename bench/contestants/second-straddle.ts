import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../../test/real/rig/control-plane.js';
import { eventually } from '../../test/real/rig/eventually.js';
import { freePort } from '../../test/real/rig/free-port.js';
import { call } from '../../test/real/rig/http-client.js';
import { Straddle, type StraddleFlags } from '../../test/real/rig/straddle.js';
import type { BenchContext } from '../bench-case.js';
import { JOB, type Pair } from './pair.js';

export interface SecondStraddle {
  /** Follows the name of the server in the names of files and hosts. */
  readonly suffix: string;
  readonly flags?: StraddleFlags;
  readonly nodeProgram?: string;
}

/**
 * Starts another Straddle before the server on `side`, which has one. With a lease it would confuse the Straddles that have
 * one for the same server, so its identity may not write any, and a flag names its peer.
 */
export async function startSecondStraddle(
  side: 'local' | 'reroute',
  { suffix, flags = {}, nodeProgram }: SecondStraddle,
  { plane, caller }: Pair,
  { dir }: BenchContext,
): Promise<Straddle> {
  const [{ name, kube, straddle }, peer]: [Server, Server] = side === 'local' ? [plane.b, plane.a] : [plane.a, plane.b];
  const second = new Straddle({
    ...straddle.options,
    name: `${name}-${suffix}`,
    hostname: `node-${name}-${suffix}`,
    port: await freePort(straddle.options.address),
    ...(nodeProgram === undefined ? {} : { nodeProgram }),
  });
  const kubeconfig = join(dir, `nobody-${name}-${suffix}`);
  writeFileSync(kubeconfig, nobodyAt(kube.url, plane.pki.ca.certFile));
  await second.start({ kubeconfig, 'peer-sources': '', peer: peer.kube.url, ...flags });
  await eventually(
    `${second.url} answers ${JOB}`,
    async () => (await call({ url: second.url, ...caller }, JOB)).status === 200,
  );
  return second;
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
