import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateReport } from '../../src/tools/inspect/gate/gate-report.js';
import { type RunningControlPlane, startControlPlane } from '../../src/tools/plane/control-plane.js';
import { eventually } from './control-plane.js';
import { ask } from './https-client.js';
import { planeOptions } from './plane-options.js';
import { runCommand } from './run-command.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-gate-'));
const GROUPS = '/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups';
const NAME = 'podgroups.v1alpha2.scheduling.k8s.io';
/** Servers of a machine that is busy with other tests need their time to find each other. */
const AGREED_MS = 30_000;
let plane: RunningControlPlane;

beforeAll(async () => {
  plane = await startControlPlane(planeOptions(dir, { versions: ['1.35', '1.36', '1.36'] }));
}, 180_000);

afterAll(async () => {
  await plane?.close();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

async function gate(...argv: string[]): Promise<{ code: number; out: string; report: GateReport }> {
  const { code, out } = await runCommand(dir, ['gate', ...argv, '-o', 'json', `--kubeconfig=${plane.kubeconfig}`]);
  return { code, out, report: JSON.parse(out) as GateReport };
}

/** At server-2, with the rights of the admin. */
function asAdmin(path: string, method: string, body?: object) {
  const port = Number(plane.servers[1]!.address.split(':')[1]);
  const { ca, admin } = plane.pki;
  const as = { pem: admin.certPem, keyPem: admin.keyPem } as NonNullable<Parameters<typeof ask>[2]>['as'];
  return ask({ port, ca: ca.certPem }, path, { method, ...(body ? { body } : {}), ...(as ? { as } : {}) });
}

const reasonOf = ({ reasons }: GateReport, id: string) => reasons.find((each) => each.id === id);

describe('straddle gate of a control plane of straddle up', () => {
  it('is open when all servers have found each other', async () => {
    const found = await eventually(
      'an open gate',
      () => gate(),
      ({ code }) => code === 0,
      AGREED_MS,
    );
    expect(found.report).toMatchObject({ verdict: 'open', reasons: [] });
  });

  it('is closed for a rollback while there are objects that the older server does not serve', async () => {
    expect((await gate('--for=rollback', '--server=server-3')).report).toMatchObject({ verdict: 'open', to: '1.35' });
    const body = {
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      kind: 'PodGroup',
      metadata: { name: 'kept' },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    };
    const made = await asAdmin(GROUPS, 'POST', body);
    expect(made.status, made.text).toBe(201);
    const { code, report } = await gate('--for=rollback', '--server=server-3');
    expect(code).toBe(1);
    expect(reasonOf(report, 'stored-objects')).toMatchObject({
      detail: `1 object of ${NAME}, which the servers of 1.35 do not serve, such as default/kept`,
      resources: [NAME],
    });
    expect((await asAdmin(`${GROUPS}/kept`, 'DELETE')).status).toBe(200);
    expect((await gate('--for=rollback')).code).toBe(0);
  });

  it('is closed while a server is gone, and names it', async () => {
    process.kill(plane.servers[2]!.pid!, 'SIGKILL');
    await expect.poll(() => plane.servers[2]!.pid).toBeUndefined();
    const { code, report } = await gate();
    expect(code).toBe(1);
    expect(reasonOf(report, 'unreachable')).toMatchObject({ servers: ['server-3'] });
    const later = await eventually(
      'the server to be held as departed',
      () => gate('--allow=unreachable'),
      (found) => reasonOf(found.report, 'stale-surface') !== undefined,
      AGREED_MS,
    );
    expect(reasonOf(later.report, 'stale-surface')).toMatchObject({
      servers: ['server-3'],
      next: expect.stringContaining('straddle forget server-3'),
    });
    expect(reasonOf(later.report, 'sole-server')).toMatchObject({
      servers: ['server-2'],
      resources: expect.arrayContaining([NAME]),
    });
  });
});
