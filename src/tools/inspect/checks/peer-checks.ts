import { ageText } from '../../../base/age-text.js';
import type { Surface } from '../../../kube/surface.js';
import { missingFrom } from '../../../kube/surface-matrix.js';
import type { LeaseFact } from '../cluster-facts.js';
import { type EndpointReading, isServerDown } from '../endpoint-reading.js';
import type { InspectedServer } from '../inspection.js';
import { peersOf } from '../status-report.js';
import { certificateFindings } from './certificate-checks.js';
import { type CheckInput, type Finding, fail, ok, type Protector, unknown, warn } from './check-line.js';

/** Straddle reads its peers every few seconds; a much older surface means that it fails to. */
const SURFACE_AGE_SECONDS_MAX = 60;

/** Checks how this server sees each of the others, according to its metrics or its discovery. */
export function peerFindings(server: InspectedServer, protector: Protector, input: CheckInput): Finding[] {
  if (!protector.protection.active) return [];
  const others = input.inspection.servers.filter((each) => each !== server && each.server.endpoints.length > 0);
  return others.map((other) =>
    protector.protection.kind === 'kube-apiserver'
      ? nativeFinding(server, other, protector, input)
      : straddleFinding(other, protector, input),
  );
}

/** Servers beyond the bound get no traffic. */
export function boundFindings({ metrics }: EndpointReading): Finding[] {
  const leftOut = metrics?.sum('straddle_peers_left_out') ?? 0;
  if (leftOut === 0) return [];
  return [
    warn(
      'peers',
      `leaves out ${leftOut} servers, because too many are named by leases, endpoints and flags`,
      'Delete the leases in kube-system that belong to no server.',
    ),
  ];
}

const checkName = (other: InspectedServer): string => `peer ${other.server.name}`;

function straddleFinding(other: InspectedServer, { reading }: Protector, input: CheckInput): Finding {
  const check = checkName(other);
  const { metrics, metricsRefusal } = reading;
  if (!metrics) return unknown(check, metricsRefusal ?? 'it has no metrics');
  const addresses = new Set(other.server.endpoints.map(({ address }) => address));
  const peer = peersOf(metrics)?.find(
    ({ name, addresses: peerAddresses }) =>
      name.toLowerCase() === other.server.name || peerAddresses.some(({ address }) => addresses.has(address)),
  );
  if (!peer && hasGone(other, input)) return fail(check, 'it has given it up as gone', mendFor(other, input));
  if (!peer) {
    return fail(
      check,
      'it does not know of it',
      'See that it may list and watch leases in kube-system (`straddle rbac | kubectl apply -f -`), or name the other with --peer.',
    );
  }
  const age = peer.surfaceAgeSeconds;
  const at = peer.addresses.map(({ address }) => address).join(', ');
  if (peer.usable && age !== null && age <= SURFACE_AGE_SECONDS_MAX) {
    const used = peer.addresses.filter(({ usable }) => usable).map(({ address }) => address);
    return ok(check, `reached at ${used.join(', ')}, discovery read ${ageText(age * 1_000)} ago`);
  }
  const what = peer.usable
    ? `reached at ${at}, but its discovery was ${age === null ? 'never read' : `last read ${ageText(age * 1_000)} ago`}`
    : `not reached at ${at}`;
  return fail(check, what, mendFor(other, input));
}

/** Returns whether a server neither answers nor renews its lease: peers rightly know of it no more. */
function hasGone({ readings, server }: InspectedServer, { inspection }: CheckInput): boolean {
  const { serverTimeMs } = inspection.facts;
  const isExpired = ({ renewedAtMs, durationSeconds }: LeaseFact): boolean =>
    renewedAtMs === undefined || serverTimeMs - renewedAtMs > durationSeconds * 1_000;
  return readings.every(({ unreachable }) => unreachable !== undefined) && server.leases.every(isExpired);
}

/** Returns the next step for the likeliest cause, judged by replies to this machine. */
function mendFor(other: InspectedServer, { inspection }: CheckInput): string {
  const { readings, server } = other;
  const answering = readings.filter(({ certificate }) => certificate !== undefined);
  if (answering.length === 0) {
    const next = readings.every(({ isRefused }) => isRefused) ? 'start it' : 'start it, or open its port';
    return `${server.name} does not answer from here either (${readings[0]?.certificateRefusal}): ${next}.`;
  }
  if (answering.every(isServerDown)) return `The API server behind the Straddle of ${server.name} is down: start it.`;
  const findings = readings.flatMap((each) => certificateFindings(each, inspection.nowMs));
  const faulty = findings.find(({ verdict }) => verdict === 'FAIL');
  if (faulty) return `Its certificate is the likeliest cause: mend ${faulty.check} of ${server.name}.`;
  // A port that refuses connections from here is not closed: nobody listens there.
  const open = answering.map(({ endpoint }) => endpoint.address).join(', ');
  return `From here it answers, so open ${open} for connections from this server, and see that its --peer-ca-file holds the CA of ${server.name} and that its front-proxy certificate is allowed.`;
}

/** Judges by discovery, because a kube-apiserver does not report its peers. */
function nativeFinding(
  server: InspectedServer,
  other: InspectedServer,
  { reading }: Protector,
  { surfaces }: CheckInput,
): Finding {
  const check = checkName(other);
  const surface = surfaces.get(server.server.name);
  const theirs = surfaces.get(other.server.name);
  if (!surface?.merged || !theirs) return unknown(check, 'what they serve could not be read');
  const extra = missingFrom(builtIn(theirs.local), surface.local);
  const hidden = missingFrom(builtIn(theirs.local), surface.merged);
  if (hidden.length > 0) {
    return fail(
      check,
      `its discovery lacks ${hidden[0]}${hidden.length > 1 ? ` and ${hidden.length - 1} more` : ''} of it`,
      `See its log for peer discovery: it must reach ${theirs.address}, verify it with its --peer-ca-file, and be an allowed front proxy there.`,
    );
  }
  if (extra.length > 0) return ok(check, `its discovery shows ${extra[0]} of it`);
  const failed = reading.metrics?.sum('apiserver_peer_discovery_sync_errors_total');
  if (failed === undefined) return unknown(check, 'both serve the same, so nothing shows');
  if (failed === 0) return ok(check, 'both serve the same, and no read of a peer has failed');
  return warn(check, `both serve the same; ${failed} reads of peers have failed since it started`);
}

/** Omits what kube-apiserver does not merge: core, custom resources and aggregated APIs. */
function builtIn(surface: Surface): Surface {
  const kept = [...surface.resources].filter(([key]) => {
    const group = key.slice(0, key.indexOf('/'));
    return group !== '' && (!group.includes('.') || /^[a-z]+(\.[a-z]+)?\.k8s\.io$/.test(group));
  });
  return { ...surface, resources: new Map(kept) };
}
