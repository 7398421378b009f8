import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { until } from '../../base/manual-clock.fixture.js';
import { HalfRecord } from './half-record.js';
import { UserProgram } from './user-program.js';

const NONE = { bad: 0, of: 0 };
const COUNTS = { collectedByMistake: NONE, notCollected: NONE, namespacesEndedEarly: NONE, namespacesStuck: NONE };

function setUp(command: string) {
  const record = new HalfRecord(systemClock);
  const program = new UserProgram({ command, kubeconfig: '/some/kubeconfig', record, clock: systemClock });
  const runs = () => record.result({ proxy: false, leftInStore: 0, counts: COUNTS }).exec;
  return { program, runs };
}

describe('the program of the user (--exec)', () => {
  it('runs again and again, with KUBECONFIG set', async () => {
    const { program, runs } = setUp('echo "$KUBECONFIG"; echo on stderr >&2; exit 3');
    program.start();
    await until(() => runs().length >= 2, 'two runs', 10_000);
    await program.stop();
    expect(runs()[0]).toMatchObject({ exitCode: 3 });
    expect(runs()[0]!.output.split('\n').sort()).toEqual(['/some/kubeconfig', 'on stderr']);
    expect(runs()[0]!.endMs).toBeGreaterThanOrEqual(runs()[0]!.beginMs);
  });

  it('has only the last lines of its output kept', async () => {
    const { program, runs } = setUp('seq 1 5000');
    program.start();
    await program.stop();
    expect(runs()[0]!.output.split('\n')).toEqual(Array.from({ length: 20 }, (_, index) => String(4_981 + index)));
  });

  it('is killed with its children when the rehearsal is aborted', async () => {
    const { program, runs } = setUp('sleep 1000 & sleep 1000');
    program.start();
    await program.kill();
    expect(runs()).toMatchObject([{ exitCode: 137 }]);
  });

  it('has a failed run if the command does not exist', async () => {
    const { program, runs } = setUp('no-such-program-anywhere');
    program.start();
    await program.stop();
    expect(runs()[0]!.exitCode).toBe(127);
    expect(runs()[0]!.output).toContain('no-such-program-anywhere');
  });
});
