import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { startRehearsalPlane } from '../../src/tools/plane/start-rehearsal-plane.js';
import { REHEARSAL_DEFAULTS, type RehearsalOptions } from '../../src/tools/rehearse/rehearsal-options.js';
import { harmOf, type RehearsalResult } from '../../src/tools/rehearse/rehearsal-result.js';
import { rehearse } from '../../src/tools/rehearse/rehearse.js';
import { planeOptions } from './plane-options.js';

const workDir = mkdtempSync(join(tmpdir(), 'straddle-rehearse-'));
const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'mine' }, spec: { size: 3 } };

function options(more: Partial<RehearsalOptions> = {}): RehearsalOptions {
  const { dataDir: _, ...places } = planeOptions(workDir, { runtimeConfig: [] });
  return {
    ...REHEARSAL_DEFAULTS,
    from: '1.36',
    to: '1.37',
    servers: 2,
    made: 'straddle apiserver',
    start: (wanted) => startRehearsalPlane({ ...places, workDir }, wanted),
    secondsPerStep: 1.5,
    load: { requestsPerSecond: 40, clients: 4 },
    progress: () => {},
    signal: new AbortController().signal,
    clock: systemClock,
    ...more,
  };
}

afterAll(() => rmSync(workDir, { recursive: true, force: true }));

describe('a rehearsal from 1.36 to 1.37 and back', () => {
  let result: RehearsalResult;

  beforeAll(async () => {
    const exec = 'test -s "$KUBECONFIG" && echo it is there';
    result = await rehearse(options({ manifests: [WIDGET, WIDGETS], exec }));
  }, 300_000);

  it('rolls every server up and back, and restarts the only one with the skewed API', () => {
    expect(result.halves.map(({ proxy }) => proxy)).toEqual([false, true]);
    for (const { steps, seconds, durationMs, leftInStore } of result.halves) {
      expect(steps.map(({ name }) => name).filter((name) => name !== 'hold')).toEqual([
        'upgrade server-1 to 1.37',
        'restart server-1',
        'upgrade server-2 to 1.37',
        'roll server-2 back to 1.36',
        'settle',
        'roll server-1 back to 1.36',
      ]);
      expect(seconds.length).toBe(Math.floor(durationMs / 1_000) + 1);
      expect(leftInStore).toBeGreaterThan(0);
    }
  });

  it('exercises everything that only 1.37 serves, without an API that is off by default', () => {
    const { differences, notes } = result;
    expect(differences.map(({ name, exercises }) => `${name}: ${exercises.join(' ')}`)).toEqual([
      'clustertrustbundles.v1.certificates.k8s.io: requests watches owners',
      'podcertificaterequests.v1.certificates.k8s.io: requests watches owners namespaces',
      'podcertificaterequests.v1.certificates.k8s.io/status: requests',
      'devicetaintrules.v1.resource.k8s.io: requests watches owners',
      'devicetaintrules.v1.resource.k8s.io/status: requests',
      'csinodes.v1.storage.k8s.io/status: requests',
      'storageversionmigrations.v1.storagemigration.k8s.io: requests watches owners',
      'storageversionmigrations.v1.storagemigration.k8s.io/status: requests',
    ]);
    expect(notes).toEqual([]);
  });

  it('finds the harm with the proxy off', () => {
    const { findings, examples } = result.halves[0]!;
    expect(findings.wrong404s).toBeGreaterThan(0);
    expect(findings.collectedByMistake.bad).toBeGreaterThan(0);
    expect(findings.namespacesEndedEarly.bad + findings.namespacesStuck.bad).toBeGreaterThan(0);
    expect(new Set(examples.map(({ kind }) => kind))).toContain('collected-by-mistake');
  });

  it('finds no harm with the proxy on, and deleted objects are gone', () => {
    const half = result.halves[1]!;
    const { findings, examples } = half;
    expect(harmOf(half), JSON.stringify(examples, null, 1)).toBe(0);
    expect(findings.collectedByMistake.of).toBeGreaterThan(0);
    expect(findings.namespacesEndedEarly.of).toBeGreaterThan(0);
    expect(findings.notCollected.of).toBeGreaterThan(0);
    expect(findings.notCollected.bad).toBe(0);
    expect(findings.requests).toBeGreaterThan(100);
  });

  it('runs the program of the user with a kubeconfig', () => {
    for (const { exec } of result.halves) {
      expect(exec.length).toBeGreaterThan(0);
      for (const each of exec) expect(each).toMatchObject({ exitCode: 0, output: 'it is there' });
    }
  });

  it('leaves nothing behind', () => {
    expect(readdirSync(workDir)).toEqual([]);
  });
});

describe('a rehearsal of other versions', () => {
  it.each([
    // Only resources without a namespace differ.
    ['1.35', '1.36', 'mutatingadmissionpolicies.v1.admissionregistration.k8s.io'],
    ['1.33', '1.37', 'csinodes.v1.storage.k8s.io/status'],
  ])(
    'from %s to %s exercises all that differs: harm without the proxy, none with it',
    async (from, to, name) => {
      const { differences, notes, halves } = await rehearse(options({ from, to }));
      expect(differences.filter(({ reason }) => reason !== undefined)).toEqual([]);
      expect(differences.map((each) => each.name)).toContain(name);
      const [off, on] = halves;
      expect(off!.findings.wrong404s).toBeGreaterThan(0);
      expect(off!.findings.collectedByMistake.bad).toBeGreaterThan(0);
      expect(harmOf(on!), JSON.stringify(on!.examples, null, 1)).toBe(0);
      expect(on!.findings.collectedByMistake.of).toBeGreaterThan(0);
      const hasNamespaced = differences.some(({ exercises }) => exercises.includes('namespaces'));
      expect(on!.findings.namespacesEndedEarly.of > 0).toBe(hasNamespaced);
      expect(notes.length > 0).toBe(!hasNamespaced);
    },
    300_000,
  );
});
