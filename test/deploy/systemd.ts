import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram, tryProgram } from '../interop/run-program.js';
import type { DeployCase } from './deploy-case.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The unit must name a program that exists; that of the guide does not here. */
const PROGRAM = '--program=/bin/true';
const UNIT = 'straddle.service';

const fromNode = (name: string) => `--from=${join(ROOT, 'src/tools/install/kubeadm-output', `${name}.manifest`)}`;

/** `straddle manifest systemd` for some nodes, read by systemd. */
export function systemdCases(analyze: string): DeployCase[] {
  const unitOf: Readonly<Record<string, readonly string[]>> = {
    'any node': [],
    'a node': [fromNode('1.37')],
    'an IPv6 node': [fromNode('1.36-ipv6')],
  };
  return [
    ...Object.entries(unitOf).map(([whose, flags]) => ({
      name: `systemd-analyze verify: the unit of ${whose}`,
      run: async () => {
        const complaints = await verify(analyze, await printedUnit(flags));
        if (complaints !== '') throw new Error(complaints);
        return undefined;
      },
    })),
    {
      name: 'systemd-analyze verify: finds a mistake',
      run: async () => {
        const unit = (await printedUnit([])).replace('Restart=', 'Restrat=');
        if (!(await verify(analyze, unit)).includes('Restrat')) throw new Error('a misspelt setting was not found');
        return undefined;
      },
    },
  ];
}

async function printedUnit(flags: readonly string[]): Promise<string> {
  const straddle = ['--import', 'tsx', join(ROOT, 'src/cli/main.ts')];
  const { stdout } = await runProgram(process.execPath, [...straddle, 'manifest', 'systemd', PROGRAM, ...flags]);
  return stdout.toString();
}

/** What is wrong with the unit; the empty text if nothing is. Lines about units of this machine are not wanted. */
async function verify(analyze: string, unit: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'straddle-unit-'));
  try {
    const file = join(folder, UNIT);
    writeFileSync(file, unit);
    const { stdout, stderr, code } = await tryProgram(analyze, ['verify', '--man=no', file]);
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(UNIT));
    return lines.concat(code === 0 ? [] : [`systemd-analyze ended with ${code}`]).join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
