import { printableLine } from '../../base/printable.js';
import { expiryOf, hasPassthrough, isLeaseOld, isProtected, type PageFacts, renewalOf } from './page-facts.js';
import type { CheckState } from './page-state.js';
import type { ServerFacts } from './server-facts.js';

const CHECKS_MAX = 1_200;
const CERTIFICATE_LEFT_MS_MIN = 7 * 86_400_000;
const DETAIL_CHARS_MAX = 200;

/** What this page cannot check. */
const FULL_CHECKS: readonly CheckState[] = [
  {
    id: 'check',
    server: null,
    verdict: 'unknown',
    text: 'ways of clients, certificate chains, clocks and rights are checked by a command',
    remedy: 'straddle check',
    isCommand: true,
  },
  {
    id: 'gate',
    server: null,
    verdict: 'unknown',
    text: 'stored objects and storage versions are judged by a command',
    remedy: 'straddle gate',
    isCommand: true,
  },
];

/** Returns the checks that need nothing but what this process knows, by the names of `straddle check`. */
export function checksState(facts: PageFacts): CheckState[] {
  const present = facts.servers.filter(({ state }) => state !== 'gone');
  const checks = present.flatMap((server) => [
    protection(server, facts),
    ...certificateExpiry(server, facts),
    ...lease(server, facts),
  ]);
  const own = facts.servers.find(({ isThis }) => isThis)?.name ?? null;
  const peers = present.filter(({ isThis }) => !isThis).map((server) => peer(own, server));
  return [...checks, ...peers, ...frontProxy(own, facts), ...bounds(own, facts)]
    .slice(0, CHECKS_MAX)
    .concat(FULL_CHECKS);
}

type Found = Pick<CheckState, 'verdict' | 'text'> & Partial<Pick<CheckState, 'remedy' | 'isCommand'>>;

function check(id: string, server: string | null, { remedy = null, isCommand = false, ...found }: Found): CheckState {
  return { id, server, verdict: found.verdict, text: printableLine(found.text), remedy, isCommand };
}

function protection(server: ServerFacts, facts: PageFacts): CheckState {
  const { name } = server;
  if (hasPassthrough(server, facts)) {
    const remedy = { remedy: 'straddle passthrough off', isCommand: true };
    return check('protection', name, { verdict: 'fail', text: 'passthrough is on: it protects nobody', ...remedy });
  }
  switch (isProtected(server, facts)) {
    case true:
      return check('protection', name, { verdict: 'ok', text: 'a Straddle protects its clients' });
    case false:
      return check('protection', name, {
        verdict: 'fail',
        text: 'its Straddle runs without the mixed version proxy',
        remedy: 'Start it with --peer-ca-file and with the gate UnknownVersionInteroperabilityProxy on.',
      });
    case undefined:
      return check('protection', name, {
        verdict: 'unknown',
        text: server.hasStraddle ? 'its Straddle did not answer' : 'it has no Straddle that could answer',
        remedy: 'straddle check',
        isCommand: true,
      });
  }
}

function certificateExpiry(server: ServerFacts, facts: PageFacts): CheckState[] {
  const expiresAtMs = expiryOf(server, facts);
  if (expiresAtMs === undefined) return [];
  return [expiryCheck('certificate-expiry', server.name, expiresAtMs, facts.nowMs, 'kubeadm certs renew apiserver')];
}

function frontProxy(own: string | null, { frontProxyExpiresAtMs, nowMs }: PageFacts): CheckState[] {
  if (frontProxyExpiresAtMs === undefined) return [];
  return [expiryCheck('front-proxy', own, frontProxyExpiresAtMs, nowMs, 'kubeadm certs renew front-proxy-client')];
}

function expiryCheck(
  id: string,
  server: string | null,
  expiresAtMs: number,
  nowMs: number,
  remedy: string,
): CheckState {
  const until = new Date(expiresAtMs).toISOString().slice(0, 10);
  const leftMs = expiresAtMs - nowMs;
  if (leftMs <= 0) return check(id, server, { verdict: 'fail', text: `expired on ${until}`, remedy, isCommand: true });
  if (leftMs < CERTIFICATE_LEFT_MS_MIN)
    return check(id, server, { verdict: 'warn', text: `expires on ${until}`, remedy, isCommand: true });
  return check(id, server, { verdict: 'ok', text: `until ${until}` });
}

function lease(server: ServerFacts, facts: PageFacts): CheckState[] {
  const renewedAtMs = renewalOf(server, facts);
  if (renewedAtMs === undefined) return [];
  if (!isLeaseOld(server, facts)) return [check('lease', server.name, { verdict: 'ok', text: 'renewed' })];
  return [
    check('lease', server.name, {
      verdict: 'fail',
      text: `last renewed at ${new Date(renewedAtMs).toISOString()}`,
      remedy: 'If the server runs, its log says why it cannot renew its lease.',
    }),
  ];
}

function peer(own: string | null, { name, state, detail, endpoints }: ServerFacts): CheckState {
  const id = `peer ${name}`;
  if (state === 'ready') {
    const used = endpoints.filter(({ usable }) => usable).map(({ address }) => address);
    return check(id, own, { verdict: 'ok', text: `reached at ${used.join(', ')}` });
  }
  const text = `${state === 'unread' ? 'its APIs were not read yet' : 'not reached'}: ${detail.slice(0, DETAIL_CHARS_MAX)}`;
  return check(id, own, { verdict: 'fail', text, remedy: 'straddle check', isCommand: true });
}

function bounds(own: string | null, { leftOutCount, conflictCount }: PageFacts): CheckState[] {
  const found: CheckState[] = [];
  if (leftOutCount > 0) {
    found.push(
      check('peers', own, {
        verdict: 'warn',
        text: `leaves out ${leftOutCount} servers, because too many are named by leases, endpoints and flags`,
        remedy: 'Delete the leases in kube-system that belong to no server.',
      }),
    );
  }
  if (conflictCount > 0) {
    const text = `${conflictCount} ${conflictCount === 1 ? 'address is' : 'addresses are'} claimed by leases of several hosts`;
    found.push(check('leases', own, { verdict: 'warn', text, remedy: 'straddle check', isCommand: true }));
  }
  return found;
}
