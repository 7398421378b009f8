import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { MODULES_DIR } from '../rig/pinned-versions.js';
import { straddleProgram } from '../rig/program.js';
import { type Scenario, Skipped } from '../scenario.js';

const PASSED = /^ok\s+straddle\.test\/real\/envtest\b/m;

export const envtestSuite: Scenario = {
  number: 55,
  name: 'straddle test -- go test ./…: envtest, a manager and a webhook of controller-runtime, as they are, on embedded servers',
  timeoutMs: 600_000,
  async run({ defer }) {
    if (spawnSync('go', ['version']).status !== 0) throw new Skipped('go is not installed; the suite is Go');
    const asked = [...straddleProgram(), 'test', '--', 'go', 'test', '-count=1', './...'];
    const child = spawn(process.execPath, asked, {
      cwd: join(MODULES_DIR, 'envtest'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    defer(() => child.kill());
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    assert.equal(code, 0, output);
    assert.match(output, PASSED);
  },
};
