import { printableLine } from '../../base/printable.js';
import { someNames } from '../../base/some-names.js';
import { withoutParts } from '../../kube/surface-matrix.js';
import {
  expiryOf,
  hasPassthrough,
  isLeaseOld,
  isProtected,
  type PageFacts,
  REACH_PAIRS_MAX,
  reachState,
  renewalOf,
} from './page-facts.js';
import type { Reason, Skew } from './page-state.js';
import { SERVERS_SHOWN_MAX, type ServerFacts } from './server-facts.js';

/** `closed`: it must not be gone on with. `unknown`: the condition could not be judged here. */
export interface JudgedReason extends Reason {
  readonly verdict: 'closed' | 'unknown';
  /** For the sentence, where the text is long. */
  readonly short?: string;
}

/** As `straddle gate`: a rollout takes its time. */
const FRONT_PROXY_LEFT_MS_MIN = 6 * 3_600_000;
/** Discovery is confirmed every few seconds. */
const SURFACE_AGE_MS_MAX = 60_000;
const DETAIL_CHARS_MAX = 160;
/** A name that may stand in a command as it is. */
const SHELL_SAFE = /^[\w.:-]+$/;

/** Returns why the next server may not be replaced now, by the ids of `straddle gate` and in its order. */
export function verdictReasons(facts: PageFacts, skew: Skew): JudgedReason[] {
  const present = facts.servers.filter(({ state }) => state !== 'gone');
  return [
    ...serversReasons(facts),
    ...present.flatMap(stateReason),
    ...drainReasons(facts),
    ...present.flatMap((server) => protectionReason(server, facts)),
    ...reachReasons(facts),
    ...rolloutReasons(facts),
    ...present.flatMap((server) => discoveryReason(server, facts)),
    ...soleReasons(facts),
    ...staleReasons(facts, skew),
    ...rememberedElsewhere(facts),
    ...certificateReasons(facts),
  ];
}

function closed(id: string, text: string, remedy: string | null, isCommand = false): JudgedReason {
  return { id, verdict: 'closed', text: printableLine(text), remedy, isCommand };
}

function unknown(id: string, text: string, remedy: string | null, isCommand = false): JudgedReason {
  return { ...closed(id, text, remedy, isCommand), verdict: 'unknown' };
}

/** Servers that nobody here has judged. */
function serversReasons({ servers, leftOutCount, conflictCount, missing }: PageFacts): JudgedReason[] {
  const reasons: JudgedReason[] = [];
  const add = (text: string, remedy: string, isCommand = false) =>
    reasons.push(unknown('servers', text, remedy, isCommand));
  if (leftOutCount > 0 || servers.length >= SERVERS_SHOWN_MAX) {
    const text = 'more servers are named by leases, endpoints and flags than are looked at';
    add(text, 'Delete the leases in kube-system that belong to no server.');
  }
  if (conflictCount > 0) add('an address is claimed by leases of several hosts', 'straddle check', true);
  const { names, isCut } = missing;
  if (names.length > 0) {
    const text = `${someNames(names)} was ready before, and no source names it any more`;
    add(text, 'Wait until it is back. If it is gone for good, `straddle gate` judges the servers that are there.');
  }
  if (isCut) add('not every server that was ready before is still known', 'straddle gate', true);
  return reasons;
}

/** A server whose Straddle stops loses its protection. */
function drainReasons(facts: PageFacts): JudgedReason[] {
  const { servers, documents, draining } = facts;
  return servers
    .filter(({ name, isThis }) => (isThis ? draining : documents.get(name)?.draining === true))
    .map(({ name }) =>
      closed('not-ready', `${name}: its Straddle is shutting down`, `Wait until the Straddle of ${name} is back.`),
    );
}

function stateReason({ name, isThis, state, detail }: ServerFacts): JudgedReason[] {
  if (state !== 'down') return [];
  if (isThis) {
    const text = `${name}: the API server behind this Straddle takes no requests`;
    return [closed('not-ready', text, `Wait for the API server of ${name}, or see its log.`)];
  }
  const text = `${name} does not answer: ${detail.slice(0, DETAIL_CHARS_MAX)}`;
  return [
    closed(
      'unreachable',
      text,
      `Wait until ${name} answers; \`straddle check\` says why it does not. Delete its lease if it is gone for good.`,
    ),
  ];
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
  const untold = new Map<string, string[]>();
  for (const { from, to, reaches } of reachState(facts)) {
    if (reaches === true || !ready.has(from) || !ready.has(to)) continue;
    // Without a document, the protection is not known either, which is a reason of its own.
    if (reaches === null && !facts.documents.has(from)) continue;
    const into = reaches === false ? missed : untold;
    into.set(from, [...(into.get(from) ?? []), to]);
  }
  return [
    ...[...missed].map(([from, to]) =>
      closed('peers', `${from} does not reach ${someNames(to)}`, 'straddle check', true),
    ),
    ...[...untold].map(([from, to]) =>
      unknown(
        'peers',
        `whether ${from} reaches ${someNames(to)} is not known: it does not say so`,
        'straddle gate',
        true,
      ),
    ),
    ...unjudgedPairs(facts),
  ];
}

function unjudgedPairs({ servers }: PageFacts): JudgedReason[] {
  const count = servers.filter(({ state }) => state !== 'gone').length;
  if (count * (count - 1) <= REACH_PAIRS_MAX) return [];
  return [unknown('peers', 'not every pair of servers is looked at: there are too many', 'straddle gate', true)];
}

function rolloutReasons(facts: PageFacts): JudgedReason[] {
  const { servers, synced } = facts;
  const unread = servers.filter(({ state }) => state === 'unread');
  const old = servers.filter((server) => server.state === 'ready' && isLeaseOld(server, facts));
  const reasons = [
    ...unread.map(({ name }) =>
      closed(
        'rollout',
        `${name} is expected and not back: what it serves was not read yet`,
        `Wait until ${name} is up and read; if it does not come, \`straddle check\` says why.`,
      ),
    ),
    ...old.map((server) => {
      const when = new Date(renewalOf(server, facts) ?? 0).toISOString();
      const text = `${server.name}: its lease was last renewed at ${when}`;
      return closed('rollout', text, 'If the server runs, its log says why it cannot renew its lease.');
    }),
  ];
  if (synced) return reasons;
  return [...reasons, unknown('rollout', 'not every source of servers has answered yet', 'Wait some seconds.')];
}

/** What a server serves may have changed since it was last confirmed. */
function discoveryReason({ name, state, surfaceAtMs }: ServerFacts, { nowMs }: PageFacts): JudgedReason[] {
  // After a step of the clock, a time in the future says as little as an old one.
  if (state !== 'ready') return [];
  if (surfaceAtMs !== undefined && Math.abs(nowMs - surfaceAtMs) <= SURFACE_AGE_MS_MAX) return [];
  const when = surfaceAtMs === undefined ? 'never' : `last at ${new Date(surfaceAtMs).toISOString()}`;
  const text = `${name}: what it serves now is not known (confirmed ${when})`;
  return [
    unknown('discovery', text, `Wait some seconds; if it stays, the log of ${name} and of its Straddle say why.`),
  ];
}

/** APIs that nobody answers for while their server is replaced. */
function soleReasons({ servers, soleAt }: PageFacts): JudgedReason[] {
  const ready = servers.filter(({ state }) => state === 'ready');
  if (ready.length === 1) {
    const text = `${ready[0]!.name} is the only server that answers: nobody serves the API while it is replaced`;
    return [closed('sole-server', text, 'Start another server first.')];
  }
  // A server that serves nothing alone may be the next one.
  const next = ready.find(({ name }) => !soleAt.has(name))?.name;
  const isCommand = next !== undefined && SHELL_SAFE.test(next);
  const remedy = isCommand
    ? `straddle gate --server=${next}`
    : 'Accept that nobody serves it while that server is away (`straddle gate --allow=sole-server`).';
  return [...soleAt].map(([server, names]) => {
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
  const among = skew.left > 0 ? ', among others,' : '';
  const answered =
    held.length === 0 ? '' : `: ${someNames(held)}${among} ${held.length === 1 ? 'is' : 'are'} answered 503`;
  const [first = ''] = gone;
  const isNamed = gone.length === 1 && SHELL_SAFE.test(first);
  const forget = isNamed ? `straddle forget ${first}` : 'straddle forget <server>';
  const who = isNamed ? `${first} is` : gone.length === 1 ? 'it is' : 'they are';
  return [
    closed(
      'stale-surface',
      `${someNames(gone)} went away and ${gone.length === 1 ? 'is' : 'are'} remembered${answered}`,
      // No command to copy: in an upgrade they come back, and until then their memory is what protects clients.
      `Wait until ${who} back; what will never come back: \`${forget}\`.`,
    ),
  ];
}

/** A server that was restarted, or is new, does not remember those that went away before. */
function rememberedElsewhere({ servers, documents }: PageFacts): JudgedReason[] {
  const away = new Set(servers.filter(({ state }) => state !== 'ready').map(({ name }) => name.toLowerCase()));
  const names = new Set<string>();
  const rememberedBy = new Set<string>();
  for (const [peer, { departed }] of documents) {
    for (const name of departed) {
      if (away.has(name.toLowerCase())) continue;
      names.add(name);
      rememberedBy.add(peer);
    }
  }
  if (names.size === 0) return [];
  const text = `${someNames([...names])} went away, as ${someNames([...rememberedBy])} ${rememberedBy.size === 1 ? 'remembers' : 'remember'}`;
  return [
    closed('stale-surface', text, 'Wait until it is back; what will never come back: `straddle forget <server>`.'),
  ];
}

function certificateReasons(facts: PageFacts): JudgedReason[] {
  return [...servingReasons(facts), ...frontProxyReasons(facts)];
}

/** Clients refuse a server whose certificate has expired. */
function servingReasons(facts: PageFacts): JudgedReason[] {
  return facts.servers.flatMap((server) => {
    const expiresAtMs = expiryOf(server, facts);
    if (server.state === 'gone' || expiresAtMs === undefined || expiresAtMs > facts.nowMs) return [];
    const text = `${server.name}: its serving certificate expired at ${new Date(expiresAtMs).toISOString()}`;
    return [closed('certificates', text, 'kubeadm certs renew apiserver', true)];
  });
}

/** An expired front-proxy certificate makes all peers refuse this server. */
function frontProxyReasons({ servers, frontProxyExpiresAtMs, nowMs }: PageFacts): JudgedReason[] {
  if (frontProxyExpiresAtMs === undefined || frontProxyExpiresAtMs - nowMs >= FRONT_PROXY_LEFT_MS_MIN) return [];
  const name = servers.find(({ isThis }) => isThis)?.name ?? '';
  const when = new Date(frontProxyExpiresAtMs).toISOString();
  const text = `${name}: its front-proxy certificate expires at ${when}`;
  return [closed('certificates', text, 'kubeadm certs renew front-proxy-client', true)];
}
