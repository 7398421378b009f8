import { setTimeout as delay } from 'node:timers/promises';
import { headerValue } from '../../http/headers.js';
import { AGGREGATED_V2 } from '../../kube/accept.js';
import type { Member } from './member.js';
import { askServer } from './plane-client.js';

export interface RollOrder {
  /** The version to roll to. */
  readonly to: string;
  /** The only server to replace; undefined for all. */
  readonly server?: string | undefined;
}

export interface RollOptions extends RollOrder {
  readonly members: readonly Member[];
  /** Whether servers that run the version already are restarted. */
  readonly again?: boolean | undefined;
  /** Whether to wait, after each server, until all show the same merged discovery. */
  readonly agree: boolean;
  replace(member: Member, version: string): Promise<void>;
  readonly progress: (sentence: string) => void;
}

const AGREED_MS_MAX = 30_000;
const POLL_MS = 100;

/**
 * Replaces one server after the other. Each is ready and known to the others before the next one is
 * stopped, so that resources of only one version are away for a short time. Resolves with the number
 * of servers replaced; rejects at the first failure.
 */
export async function roll({ members, to, server, again, agree, replace, progress }: RollOptions): Promise<number> {
  const chosen = members.filter(({ name }) => server === undefined || name === server);
  if (chosen.length === 0)
    throw new Error(`There is no server ${server}; there are ${members.map(({ name }) => name).join(', ')}.`);
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

/** Resolves when merged discovery is the same document on every server. */
async function untilAgreed(members: readonly Member[]): Promise<void> {
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
