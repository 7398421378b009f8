import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../interop/run-program.js';
import type { DeployCase } from './deploy-case.js';
import { EXPECTED_ALERTS } from './expected-alerts.js';
import { promtoolInput } from './promtool-input.js';
import { readRecording } from './recording.js';
import { alertRules, RULES_FILE } from './rules-file.js';
import { SITUATIONS } from './situations.js';

const CONFIG_FILE = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yaml', import.meta.url));

export function prometheusCases(promtool: string): DeployCase[] {
  return [
    { name: 'promtool: the alert rules are valid', run: () => accepts(promtool, ['check', 'rules', RULES_FILE]) },
    {
      name: 'promtool: the configuration is valid',
      run: () => accepts(promtool, ['check', 'config', '--syntax-only', CONFIG_FILE]),
    },
    { name: 'promtool: every alert fires in a recording', run: everyAlertFires },
    { name: 'promtool: an alert that should fire and does not is found', run: () => findsSilence(promtool) },
    ...Object.keys(SITUATIONS).map((name) => ({
      name: `promtool: alerts of the recording ${name}`,
      run: () => testRules(promtool, name),
    })),
  ];
}

async function accepts(promtool: string, args: readonly string[]): Promise<undefined> {
  await runProgram(promtool, args);
}

async function everyAlertFires(): Promise<string> {
  const firing = new Set(
    Object.values(EXPECTED_ALERTS)
      .flatMap((all) => all.flatMap((each) => each.firing))
      .map(({ alert }) => alert),
  );
  const silent = alertRules().filter(({ alert }) => !firing.has(alert));
  if (silent.length > 0) throw new Error(`in no recording: ${silent.map(({ alert }) => alert).join(', ')}`);
  return `${firing.size} alerts`;
}

async function findsSilence(promtool: string): Promise<undefined> {
  const wrong = [{ page: 20, firing: [{ alert: 'StraddleDown', instance: 'a' }] }];
  const failure = await testRules(promtool, 'normal', wrong).then(
    () => '',
    (error: Error) => error.message,
  );
  if (!failure.includes('StraddleDown')) throw new Error(`promtool accepted it: ${failure}`);
}

async function testRules(promtool: string, name: string, expectations = EXPECTED_ALERTS[name]): Promise<string> {
  if (!expectations || expectations.length === 0) throw new Error(`expected-alerts.ts expects nothing of ${name}`);
  const folder = mkdtempSync(join(tmpdir(), 'straddle-alerts-'));
  try {
    const input = join(folder, 'test.yaml');
    writeFileSync(input, JSON.stringify(promtoolInput(name, readRecording(name), expectations, alertRules())));
    await runProgram(promtool, ['test', 'rules', input]);
    return `at ${expectations.length} times`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
