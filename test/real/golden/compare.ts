import type { KubectlResult } from '../rig/kubectl.js';
import { alike } from './deliberate.js';
import type { KubectlSide } from './kubectl-side.js';
import { lineDifference } from './line-difference.js';
import { normalise } from './normalise.js';
import type { Step, Watched } from './step.js';

export interface Sides {
  readonly real: KubectlSide;
  readonly ours: KubectlSide;
}

export interface Compared {
  commands: number;
  /** One for each command whose output or code was another one, ready to be shown. */
  readonly differences: string[];
}

/** Does the same to both servers, one step after the other. */
export async function compare(sides: Sides, steps: readonly Step[], compared: Compared): Promise<void> {
  for (const step of steps) await compareStep(sides, step, compared);
}

/** For steps that change nothing, and so need no order. */
export async function compareAtOnce(sides: Sides, steps: readonly Step[], compared: Compared): Promise<void> {
  const waiting = steps.values();
  const worker = async (): Promise<void> => {
    for (const step of waiting) await compareStep(sides, step, compared);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const AT_ONCE = 3;

async function compareStep(sides: Sides, step: Step, compared: Compared): Promise<void> {
  if (typeof step === 'string') note(compared, step, await both(sides, (side) => side.run(step)));
  else if ('alice' in step) {
    note(compared, `${step.alice} (alice)`, await both(sides, (side) => side.run(step.alice, 'alice')));
  } else if ('fill' in step) await both(sides, (side) => side.fill(step.fill));
  else await compareWatched(sides, step, compared);
}

async function compareWatched(sides: Sides, { watch, during, lines }: Watched, compared: Compared): Promise<void> {
  const [real, ours] = await both(sides, async (side) => side.watch(watch));
  // What is there already is printed first; only then may something change.
  await new Promise((resolve) => setTimeout(resolve, WATCH_BEGINS_MS));
  await compare(sides, during, compared);
  const ended = await Promise.all([sides.real.stopAt(real, lines), sides.ours.stopAt(ours, lines)]);
  note(compared, watch, ended);
}

const WATCH_BEGINS_MS = 700;

function both<T>({ real, ours }: Sides, act: (side: KubectlSide) => Promise<T>): Promise<[T, T]> {
  return Promise.all([act(real), act(ours)]);
}

function note(compared: Compared, command: string, [real, ours]: readonly [KubectlResult, KubectlResult]): void {
  compared.commands += 1;
  const expected = alike(command, normalise(shown(real)));
  const actual = alike(command, normalise(shown(ours)));
  if (expected === actual) return;
  compared.differences.push(`kubectl ${command}\n${lineDifference(expected, actual)}`);
}

function shown({ code, stdout, stderr }: KubectlResult): string {
  const errors = stderr.trimEnd();
  return `${stdout.trimEnd()}\n${errors === '' ? '' : `stderr: ${errors}\n`}exit code ${code}`;
}
