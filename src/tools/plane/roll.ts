import { setTimeout as delay } from 'node:timers/promises';
import { headerValue } from '../../http/headers.js';
import { AGGREGATED_V2 } from '../../kube/accept.js';
import type { Member } from './member.js';
import { askServer } from './plane-client.js';

export interface RollOptions {
  readonly members: readonly Member[];
  readonly to: string;
  /** Only this one; undefined for all. */
  readonly only: string | undefined;
  /** Those too that run the version already: they are restarted. */
  readonly again?: boolean;
  /** Servers know each other: the next one waits until all show the same merged discovery. */
  readonly agree: boolean;
  replace(member: Member, version: string): Promise<void>;
  readonly progress: (sentence: string) => void;
}

const AGREED_MS_MAX = 30_000;
const POLL_MS = 100;

/**
 * One server after the other, each ready and known to the others before the next one goes: never two at once, so that what
 * one version alone serves is away as short as can be. The first that fails ends it.
 */
export async function roll({ members, to, only, again, agree, replace, progress }: RollOptions): Promise<number> {
  const chosen = members.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0)
    throw new Error(`There is no server ${only}; there are ${members.map(({ name }) => name).join(', ')}.`);
  const waiting = chosen.filter(({ version }) => again || version !== to);
  for (const [index, member] of waiting.entries()) {
    const beganMs = performance.now();
    progress(`${index + 1}/${waiting.length} ${member.name}: ${member.version} → ${to}`);
    await replace(member, to);
    if (agree) await untilAgreed(members);
    const gates = agree ? 'ready, and every server shows the same APIs' : 'ready';
    progress(
      `${index + 1}/${waiting.length} ${member.name}: ${gates} after ${((performance.now() - beganMs) / 1000).toFixed(1)} s`,
    );
  }
  return waiting.length;
}

/** Resolves when merged discovery is the same document everywhere. */
export async function untilAgreed(members: readonly Member[]): Promise<void> {
  const deadlineMs = performance.now() + AGREED_MS_MAX;
  for (;;) {
    const tags = await Promise.all(members.map(tagOf));
    if (tags.every((tag) => tag !== undefined && tag === tags[0])) return;
    if (performance.now() > deadlineMs) {
      const seen = members.map(({ name }, index) => `${name} ${tags[index] ?? 'does not answer'}`);
      throw new Error(`servers do not agree on what is served after ${AGREED_MS_MAX / 1000} s: ${seen.join(', ')}`);
    }
    await delay(POLL_MS);
  }
}

async function tagOf({ destination }: Member): Promise<string | undefined> {
  try {
    const { status, headers } = await askServer(destination, 'GET', '/apis', { accept: AGGREGATED_V2 });
    return status === 200 ? headerValue(headers, 'etag') : undefined;
  } catch {
    return undefined;
  }
}
