import { timestamp } from '../../kube/timestamp.js';
import type { Plan } from './plan.js';
import { Half } from './rehearsal-half.js';
import { REHEARSAL_DEFAULTS, type RehearsalOptions } from './rehearsal-options.js';
import type { HalfResult, RehearsalResult, RehearsalSettings } from './rehearsal-result.js';

/** A single server is never mixed. */
const SERVERS_MIN = 2;

/**
 * Rolls a control plane from one version to another and back, under load, once for each half, and
 * records the replies that clients get. Rejects, with nothing left running, with a message for the user.
 */
export async function rehearse(options: RehearsalOptions): Promise<RehearsalResult> {
  const { from, to, servers, made, clock, halves } = options;
  if (servers < SERVERS_MIN) throw new Error(`A rehearsal needs ${SERVERS_MIN} servers or more.`);
  if (from === to) throw new Error(`From ${from} to ${to} nothing changes: give two versions.`);
  const startedAt = timestamp(clock.nowMs());
  const results: { readonly half: HalfResult; readonly plan: Plan | undefined }[] = [];
  for (const [index, half] of halves.entries()) {
    const halvesToFollow = halves.length - 1 - index + (options.halvesToFollow ?? 0);
    results.push(await runHalf({ ...options, halvesToFollow }, half === 'on'));
  }
  const { uses: differences = [], notes = [] } = results[0]?.plan ?? {};
  const settings = settingsOf(options);
  return { from, to, startedAt, servers, made, settings, differences, notes, halves: results.map(({ half }) => half) };
}

function settingsOf(options: RehearsalOptions): RehearsalSettings {
  const { secondsPerStep, settleSeconds = REHEARSAL_DEFAULTS.settleSeconds, load, controllers, skewed } = options;
  return {
    secondsPerStep,
    settleSeconds,
    ...load,
    controllers,
    ...(skewed === undefined ? {} : { skewed }),
    manifests: options.manifests.length,
    exec: options.exec !== undefined,
  };
}

async function runHalf(
  options: RehearsalOptions,
  proxy: boolean,
): Promise<{ readonly half: HalfResult; readonly plan: Plan | undefined }> {
  const { start, servers, from, progress, signal } = options;
  signal.throwIfAborted();
  const versions = Array.from({ length: servers }, () => from);
  const plane = await start({ proxy, versions, progress });
  const half = new Half(options, plane, proxy);
  try {
    return { half: await half.run(), plan: half.plan };
  } finally {
    await half.close().finally(() => plane.close());
  }
}
