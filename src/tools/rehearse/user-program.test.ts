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
  const runs = () => record.result({ proxy: false, skewed: '', leftInStore: 0, counts: COUNTS }).exec;
  return { program, runs };
}

describe('the user’s own program', () => {
  it('is told where the control plane is, and run again and again', async () => {
    const { program, runs } = setUp('echo "$KUBECONFIG"; echo on stderr >&2; exit 3');
    program.start();
    await until(() => runs().length >= 2, 'two runs', 10_000);
    await program.stop();
    expect(runs()[0]).toMatchObject({ exitCode: 3 });
    expect(runs()[0]!.output.split('\n').sort()).toEqual(['/some/kubeconfig', 'on stderr']);
    expect(runs()[0]!.endMs).toBeGreaterThanOrEqual(runs()[0]!.beginMs);
  });

  it('has only its last lines kept', async () => {
    const { program, runs } = setUp('seq 1 5000');
    program.start();
    await program.stop();
    expect(runs()[0]!.output.split('\n')).toEqual(Array.from({ length: 20 }, (_, index) => String(4_981 + index)));
  });

  it('is ended with whatever it started, when the rehearsal is called off', async () => {
    const { program, runs } = setUp('sleep 1000 & sleep 1000');
    program.start();
    await program.kill();
    expect(runs()).toMatchObject([{ exitCode: 137 }]);
  });

  it('is reported where there is no such program', async () => {
    const { program, runs } = setUp('no-such-program-anywhere');
    program.start();
    await program.stop();
    expect(runs()[0]!.exitCode).toBe(127);
    expect(runs()[0]!.output).toContain('no-such-program-anywhere');
  });
});
