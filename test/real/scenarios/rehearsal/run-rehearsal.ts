import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DifferenceUse, HalfResult, RehearsalResult } from '../../../../src/tools/rehearse/rehearsal-result.js';
import { type ControlPlane, layoutOf, type Server } from '../../rig/control-plane.js';
import type { KubeSettings } from '../../rig/kube-apiserver.js';
import { minorOf } from '../../rig/pinned-versions.js';
import { straddleProgram } from '../../rig/program.js';
import type { ScenarioContext } from '../../scenario.js';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Tells the rig to do it, and fails if it could not: what an operator's own command would be. */
const ROLL_COMMAND = `${process.execPath} -e '
  fetch(process.argv[1] + "?" + new URLSearchParams({
    upstream: process.env.STRADDLE_UPSTREAM, version: process.env.STRADDLE_VERSION,
  })).then(async (answer) => { console.log(await answer.text()); process.exitCode = answer.ok ? 0 : 1; })
'`;

export interface Rehearsed {
  readonly code: number;
  /** What differs between the two servers, and what was exercised of it. */
  readonly differences: readonly DifferenceUse[];
  readonly off: HalfResult;
  readonly on: HalfResult;
  /** Its output meanwhile. */
  readonly said: string;
}

/** Where the halves of a rehearsal keep their data: a folder each, with its kubeconfig once it is up. */
export function rehearsalFolder({ dir }: ControlPlane): string {
  const folder = join(dir, 'rehearsal');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The servers A and B of the rig: what a rehearsal upgrades from and to. */
function rehearsedServers(): { readonly older: KubeSettings; readonly newer: KubeSettings } {
  const { a, b } = layoutOf('default').kube;
  return { older: a!, newer: b! };
}

/** `straddle rehearse` as an operator runs it, before two older kube-apiservers that the rig replaces when it is told to. */
export async function runRehearsal({ plane, defer }: ScenarioContext, ...flags: string[]): Promise<Rehearsed> {
  const { older, newer } = rehearsedServers();
  const [from, to] = [minorOf(older.version), minorOf(newer.version)];
  await plane.arrange({
    kube: { a: older, b: older, c: undefined },
    straddle: { a: undefined, b: undefined, c: undefined },
  });
  const servers = [plane.a, plane.b];
  const roller = await startRoller(servers, { [from]: older, [to]: newer });
  defer(roller.close);
  const { code, stdout, stderr } = await runLong(
    'rehearse',
    `--from=${from}`,
    `--to=${to}`,
    `--upstream=${servers.map(({ kube }) => kube.url).join(',')}`,
    `--pki-dir=${plane.pki.dir}`,
    `--roll-command=${ROLL_COMMAND} ${roller.url}`,
    `--data-dir=${rehearsalFolder(plane)}`,
    '--rate=40',
    '--no-report',
    '--output=json',
    ...flags,
  );
  assert.notEqual(stdout, '', stderr);
  const { halves, differences } = JSON.parse(stdout) as RehearsalResult;
  const [off, on] = halves;
  assert.ok(off && on, stderr);
  process.stdout.write(`${differencesText(differences)}${summary(off)}${summary(on)}`);
  return { code, differences, off, on, said: stderr };
}

/** Replaces the kube-apiserver behind an address, on demand. */
async function startRoller(
  servers: readonly Server[],
  versions: Readonly<Record<string, KubeSettings>>,
): Promise<{ url: string; close: () => Promise<void> }> {
  const roll = async (target: string): Promise<string> => {
    const asked = new URL(target, 'http://rig').searchParams;
    const server = servers.find(({ kube }) => kube.url === asked.get('upstream'));
    const settings = versions[asked.get('version') ?? ''];
    if (server === undefined || settings === undefined) throw new Error(`cannot do ${target}`);
    await server.kube.stop();
    await server.kube.start(settings);
    return `${server.hostname} runs ${settings.version}`;
  };
  const roller = createServer((request, response) => {
    roll(request.url ?? '').then(
      (text) => response.end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise<void>((resolve) => roller.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(roller.address() as AddressInfo).port}/`,
    close: () => new Promise((resolve) => roller.close(() => resolve())),
  };
}

/** Runs a `straddle` command that takes minutes, while the rig goes on. */
function runLong(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = promisify(execFile)(process.execPath, [...straddleProgram(), ...args], { maxBuffer: OUTPUT_BYTES_MAX });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

function differencesText(differences: readonly DifferenceUse[]): string {
  const lines = differences.map(
    ({ name, exercises, reason }) => `        ${name}: ${reason ?? exercises.join(', ')}\n`,
  );
  return lines.join('');
}

function summary({ proxy, findings, durationMs }: HalfResult): string {
  const of = ({ bad, of: all }: { readonly bad: number; readonly of: number }): string => `${bad} of ${all}`;
  const parts = [
    `${findings.requests} requests`,
    `${findings.wrong404s} wrong 404s`,
    `${findings.unavailable503s} 503s`,
    `${findings.otherErrors} other errors`,
    `${of(findings.collectedByMistake)} collected by mistake`,
    `${of(findings.namespacesEndedEarly)} namespaces ended early`,
    `${of(findings.namespacesStuck)} stuck`,
    `${findings.discoveryFlaps} flaps`,
  ];
  return `        proxy ${proxy ? 'on ' : 'off'} ${(durationMs / 1_000).toFixed(0)} s: ${parts.join(', ')}\n`;
}
