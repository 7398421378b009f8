import { printableLine } from '../../base/printable.js';
import { someNames } from '../../base/some-names.js';
import { withoutParts } from '../../kube/surface-matrix.js';
import { hasPassthrough, isProtected, type PageFacts, reachState } from './page-facts.js';
import type { Reason, Skew } from './page-state.js';
import type { ServerFacts } from './server-facts.js';

/** `closed`: it must not be gone on with. `unknown`: the condition could not be judged here. */
export interface JudgedReason extends Reason {
  readonly verdict: 'closed' | 'unknown';
  /** For the sentence, where the text is long. */
  readonly short?: string;
}

/** As `straddle gate`: a rollout takes its time. */
const FRONT_PROXY_LEFT_MS_MIN = 6 * 3_600_000;
const DETAIL_CHARS_MAX = 160;
/** A name that may stand in a command as it is. */
const SHELL_SAFE = /^[\w.:-]+$/;

/** Returns why the next server may not be replaced now, by the ids of `straddle gate` and in its order. */
export function verdictReasons(facts: PageFacts, skew: Skew): JudgedReason[] {
  const present = facts.servers.filter(({ state }) => state !== 'gone');
  return [
    ...present.flatMap(stateReason),
    ...present.flatMap((server) => protectionReason(server, facts)),
    ...reachReasons(facts),
    ...rolloutReasons(facts),
    ...soleReasons(facts, skew),
    ...staleReasons(facts, skew),
    ...certificateReasons(facts),
  ];
}

function closed(id: string, text: string, remedy: string | null, isCommand = false): JudgedReason {
  return { id, verdict: 'closed', text: printableLine(text), remedy, isCommand };
}

function unknown(id: string, text: string, remedy: string | null, isCommand = false): JudgedReason {
  return { ...closed(id, text, remedy, isCommand), verdict: 'unknown' };
}

function stateReason({ name, isThis, state, detail }: ServerFacts): JudgedReason[] {
  if (state !== 'down') return [];
  if (isThis) {
    const text = `${name}: the API server behind this Straddle takes no requests`;
    return [closed('not-ready', text, `Wait for the API server of ${name}, or see its log.`)];
  }
  const text = `${name} does not answer: ${detail.slice(0, DETAIL_CHARS_MAX)}`;
  return [closed('unreachable', text, `Wait until ${name} answers; \`straddle check\` says why it does not.`)];
}

function protectionReason(server: ServerFacts, facts: PageFacts): JudgedReason[] {
  const { name, isThis, hasStraddle, state } = server;
  if (state !== 'ready' && !isThis) return [];
  if (hasPassthrough(server, facts)) {
    return [
      closed('passthrough', `passthrough is on at ${name}: it protects nobody`, 'straddle passthrough off', true),
    ];
  }
  switch (isProtected(server, facts)) {
    case true:
      return [];
    case false:
      return [
        closed(
          'unprotected',
          `${name} is not protected: what it does not serve itself is a 404`,
          'Start its Straddle with --peer-ca-file and without --feature-gates=UnknownVersionInteroperabilityProxy=false.',
        ),
      ];
    case undefined: {
      const why = hasStraddle ? 'its Straddle did not say so' : 'it has no Straddle that could say so';
      const text = `whether ${name} is protected is not known here: ${why}`;
      const short = printableLine(`whether ${name} is protected`);
      return [{ ...unknown('unprotected', text, 'straddle gate', true), short }];
    }
  }
}

/** Servers that are up and do not reach each other, as they report it themselves. */
function reachReasons(facts: PageFacts): JudgedReason[] {
  const ready = new Set(facts.servers.filter(({ state }) => state === 'ready').map(({ name }) => name));
  const missed = new Map<string, string[]>();
  for (const { from, to, reaches } of reachState(facts)) {
    if (reaches !== false || !ready.has(from) || !ready.has(to)) continue;
    missed.set(from, [...(missed.get(from) ?? []), to]);
  }
  return [...missed].map(([from, to]) =>
    closed('peers', `${from} does not reach ${someNames(to)}`, 'straddle check', true),
  );
}

function rolloutReasons({ servers, synced }: PageFacts): JudgedReason[] {
  const unread = servers.filter(({ state }) => state === 'unread');
  const reasons = unread.map(({ name }) =>
    closed(
      'rollout',
      `${name} is expected and not back: what it serves was not read yet`,
      `Wait until ${name} is up and read; if it does not come, \`straddle check\` says why.`,
    ),
  );
  if (synced) return reasons;
  return [...reasons, unknown('rollout', 'not every source of servers has answered yet', 'Wait some seconds.')];
}

/** APIs that nobody answers for while their server is replaced. */
function soleReasons({ servers }: PageFacts, skew: Skew): JudgedReason[] {
  const ready = servers.filter(({ state }) => state === 'ready');
  if (ready.length === 1) {
    const text = `${ready[0]!.name} is the only server that answers: nobody serves the API while it is replaced`;
    return [closed('sole-server', text, 'Start another server first.')];
  }
  const byServer = new Map<string, string[]>();
  for (const { name, cells } of skew.rows) {
    const first = cells.indexOf('served');
    if (first < 0 || cells.indexOf('served', first + 1) >= 0) continue;
    const server = skew.servers[first]!;
    byServer.set(server, [...(byServer.get(server) ?? []), name]);
  }
  // A server that serves nothing alone may be the next one.
  const next = ready.find(({ name }) => !byServer.has(name))?.name;
  const isCommand = next !== undefined && SHELL_SAFE.test(next);
  const remedy = isCommand
    ? `straddle gate --server=${next}`
    : 'Accept that nobody serves it while that server is away (`straddle gate --allow=sole-server`).';
  return [...byServer].map(([server, names]) => {
    const resources = withoutParts(names);
    const text = `only ${server} serves ${someNames(resources)}`;
    return {
      ...closed('sole-server', text, remedy, isCommand),
      short: printableLine(`only ${server} serves ${someNames(resources, 1)}`),
    };
  });
}

function staleReasons({ servers }: PageFacts, skew: Skew): JudgedReason[] {
  const gone = servers.filter(({ state }) => state === 'gone').map(({ name }) => name);
  if (gone.length === 0) return [];
  const held = withoutParts(skew.rows.filter(({ cells }) => cells.includes('held')).map(({ name }) => name));
  const answered = held.length === 0 ? '' : `: ${someNames(held)} ${held.length === 1 ? 'is' : 'are'} answered 503`;
  const [first] = gone;
  const isCommand = gone.length === 1 && SHELL_SAFE.test(first!);
  return [
    closed(
      'stale-surface',
      `${someNames(gone)} went away and ${gone.length === 1 ? 'is' : 'are'} remembered${answered}`,
      isCommand ? `straddle forget ${first}` : 'Wait until they are back; `straddle forget` ends the memory of one.',
      isCommand,
    ),
  ];
}

/** An expired front-proxy certificate makes all peers refuse this server. */
function certificateReasons({ servers, frontProxyExpiresAtMs, nowMs }: PageFacts): JudgedReason[] {
  if (frontProxyExpiresAtMs === undefined || frontProxyExpiresAtMs - nowMs >= FRONT_PROXY_LEFT_MS_MIN) return [];
  const name = servers.find(({ isThis }) => isThis)?.name ?? '';
  const when = new Date(frontProxyExpiresAtMs).toISOString();
  const text = `${name}: its front-proxy certificate expires at ${when}`;
  return [closed('certificates', text, 'kubeadm certs renew front-proxy-client', true)];
}
