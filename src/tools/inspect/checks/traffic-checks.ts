import type { Answerers } from '../answerers.js';
import { isServerDown } from '../endpoint-reading.js';
import type { InspectedServer } from '../inspection.js';
import { protectionOf } from '../protection.js';
import type { Way } from '../traffic.js';
import { type CheckInput, type CheckLine, type Finding, fail, ok, unknown, warn } from './check-line.js';

const INSTALL = '`straddle install --kubeadm`, docs/guide/kubeadm.md';

/** Checks of each way of clients to the API servers whether it leads to a Straddle. */
export function trafficLines(input: CheckInput): CheckLine[] {
  return input.ways.map((way) => {
    const finding = judge(way, input);
    return {
      server: way.server,
      address: way.server === '*' ? null : addressOf(way),
      ...finding,
      mend: finding.mend ?? null,
    };
  });
}

function addressOf({ url }: Way): string | null {
  return url === null ? null : url.replace(/^https:\/\//, '');
}

function judge(way: Way, input: CheckInput): Finding {
  const { found, url } = way;
  const check = way.kind.replace(/^kube-/, '');
  if (!found || url === null) return unknown(check, way.unknown ?? 'its address is not known');
  const { straddles, others, failure } = found;
  const words = WORDS[way.kind];
  if (others > 0) {
    if (isNativeEverywhere(input)) {
      return ok(check, `${words.leads(way)}, where a kube-apiserver answers whose own proxy is on`);
    }
    // Every API of a kubelet is served by the oldest API server too: it must not be newer than that.
    const verdict = way.kind === 'kubelet' ? warn : fail;
    return verdict(check, `${words.past(way)}${shareOf(found)}`, words.mend(way, input));
  }
  if (failure) {
    const isPublishedInVain = way.kind === 'service' && failure.isRefused && servesElsewhere(way, input);
    if (straddles === 0 && isPublishedInVain) {
      return fail(
        check,
        `nobody listens at ${addressOf(way)}, which Service kubernetes publishes for pods`,
        words.mend(way, input),
      );
    }
    return unknown(check, `${words.leads(way)}: ${failure.why}${straddles > 0 ? ', at times' : ''}`);
  }
  return ok(check, `${words.leads(way)}, where Straddle answers${straddles > 1 ? ` (${straddles} connections)` : ''}`);
}

interface Words {
  /** `pods that use Service kubernetes reach cp-2 at 10.0.0.2:6443`. */
  leads(way: Way): string;
  past(way: Way): string;
  mend(way: Way, input: CheckInput): string;
}

const service: Words = {
  leads: (way) => `pods that use Service kubernetes reach ${nameOf(way)} at ${addressOf(way)}`,
  past: (way) =>
    `pods that use Service kubernetes reach ${nameOf(way)} past Straddle: ${addressOf(way)} is ${way.server === '*' ? 'a' : 'its'} kube-apiserver`,
  mend: (way) =>
    `Give Straddle ${addressOf(way)}, the address that the kube-apiserver advertises, and let the kube-apiserver listen on 127.0.0.1 with the same port (${INSTALL}).`,
};

const kubeconfig: Words = {
  leads: ({ url }) => `this kubeconfig leads to ${url}`,
  past: ({ url }) => `this kubeconfig leads past Straddle: a kube-apiserver itself answers at ${url}`,
  mend: (_, { inspection }) => {
    const addresses = inspection.servers.flatMap(straddleAddresses).join(', ');
    return `Let the load balancer, or this kubeconfig, lead to the Straddles (${addresses}), or give them the addresses of the kube-apiservers (${INSTALL}).`;
  },
};

const component: Words = {
  leads: ({ kind, source, url }) => `${kind} is sent to ${url} by ${source}`,
  past: ({ kind, server, source, url }) =>
    `${kind.replace(/^kube-/, '')} on ${server} bypasses Straddle: ${source} leads to ${url}, where a kube-apiserver itself answers`,
  mend: ({ source, server }, { inspection }) => {
    const own = inspection.servers.find((each) => each.server.name === server);
    const [address] = own ? straddleAddresses(own) : [];
    const where = address === undefined ? 'the address of a Straddle' : `https://${address}`;
    return `Write ${where} into ${source} and restart the component, or give Straddle the address of the kube-apiserver (${INSTALL}).`;
  },
};

const WORDS: Readonly<Record<Way['kind'], Words>> = {
  service,
  kubeconfig,
  kubelet: component,
  'kube-controller-manager': component,
  'kube-scheduler': component,
};

function nameOf({ server }: Way): string {
  return server === '*' ? 'a server' : server;
}

function shareOf({ straddles, others, failure }: Answerers): string {
  const all = straddles + others;
  return straddles === 0 && !failure ? '' : ` (${others} of ${all} connections)`;
}

function straddleAddresses({ readings }: InspectedServer): string[] {
  return readings
    .filter((reading) => protectionOf(reading).kind !== 'kube-apiserver')
    .map(({ endpoint }) => endpoint.address);
}

/** Returns whether the native proxy protects clients of every kube-apiserver that answers. */
function isNativeEverywhere({ inspection }: CheckInput): boolean {
  const protections = inspection.servers
    .flatMap(({ readings }) => readings)
    .filter(({ unreachable }) => unreachable === undefined)
    .map(protectionOf)
    .filter(({ kind }) => kind === 'kube-apiserver');
  return protections.length > 0 && protections.every(({ active }) => active === true);
}

/** Returns whether the server at the end of a way runs, and answers through its Straddle. */
function servesElsewhere({ server }: Way, { inspection }: CheckInput): boolean {
  const readings = inspection.servers.find((each) => each.server.name === server)?.readings ?? [];
  return readings.some((each) => each.unreachable === undefined && !isServerDown(each));
}
