import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import type { JsonObject } from '../../kube/json.js';
import { type AddressRange, isInRange, parseRange } from './built-in-formats.js';
import { child, childOrNew, number, objects, text, texts } from './fields.js';
import type { RuleContext } from './kind-rules.js';

const SERVICES = { group: '', resource: 'services' };
/** Bound on the recent allocations that are remembered because caches may not show them yet. */
const RECENT_MAX = 256;
/** Random tries before free addresses and ports are searched in order. */
const TRIES_MAX = 64;
/** Bound on the addresses of a range that are searched in order. */
const WALK_MAX = 65_536;

function remember(value: string, { recent }: RuleContext): void {
  recent.push(value);
  if (recent.length > RECENT_MAX) recent.shift();
}

const isNone = (address: string | undefined): boolean => address === 'None';

export function needsAddress(service: JsonObject): boolean {
  return ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(text(child(service, 'spec'), 'type'));
}

export function needsNodePort(service: JsonObject): boolean {
  const spec = child(service, 'spec');
  const type = text(spec, 'type');
  return type === 'NodePort' || (type === 'LoadBalancer' && spec?.['allocateLoadBalancerNodePorts'] !== false);
}

export function needsHealthCheckPort(service: JsonObject): boolean {
  const spec = child(service, 'spec');
  return text(spec, 'type') === 'LoadBalancer' && text(spec, 'externalTrafficPolicy') === 'Local';
}

export function isHeadless(service: JsonObject): boolean {
  return isNone(texts(child(service, 'spec'), 'clusterIPs')[0]);
}

/** The address families of this cluster's services, the primary one first. */
export function familiesOf({ options }: RuleContext): string[] {
  return options.serviceRanges.map((range) => (parseRange(range)?.family === 6 ? 'IPv6' : 'IPv4'));
}

function rangeOf(family: string, { options }: RuleContext): AddressRange | undefined {
  const ranges = options.serviceRanges.map(parseRange);
  return ranges.find((range) => range !== undefined && (range.family === 6 ? 'IPv6' : 'IPv4') === family);
}

/** The addresses and ports of all other services. */
function taken(service: JsonObject, { objects: reader }: RuleContext): { addresses: Set<string>; ports: Set<number> } {
  const addresses = new Set<string>();
  const ports = new Set<number>();
  const uid = text(child(service, 'metadata'), 'uid');
  for (const other of reader.list(SERVICES)) {
    if (uid !== '' && text(child(other, 'metadata'), 'uid') === uid) continue;
    const spec = child(other, 'spec');
    for (const address of texts(spec, 'clusterIPs')) addresses.add(address);
    for (const port of objects(spec, 'ports')) ports.add(number(port, 'nodePort') ?? 0);
    ports.add(number(spec, 'healthCheckNodePort') ?? 0);
  }
  return { addresses, ports };
}

export function addressRefusal(
  service: JsonObject,
  { address, family, around }: { address: string; family: string; around: RuleContext },
): string | undefined {
  const range = rangeOf(family, around);
  if (range === undefined || !isInRange(address, range)) {
    return `failed to allocate IP ${address}: the provided network does not match the current range`;
  }
  if (taken(service, around).addresses.has(address)) {
    return `failed to allocate IP ${address}: provided IP is already allocated`;
  }
  return undefined;
}

/** Sets the address families and their policy where the service has none. */
function defaultFamilies(service: JsonObject, around: RuleContext): void {
  const spec = childOrNew(service, 'spec');
  const known = familiesOf(around);
  const families = texts(spec, 'ipFamilies');
  const asked = texts(spec, 'clusterIPs').filter((each) => isIP(each) !== 0);
  const isBare = isHeadless(service) && Object.keys(child(spec, 'selector') ?? {}).length === 0;
  if (text(spec, 'ipFamilyPolicy') === '') {
    // A headless service without selector may have endpoints of both families.
    const isDual = families.length === 2 || asked.length === 2 || isBare;
    spec['ipFamilyPolicy'] = isDual ? 'RequireDualStack' : 'SingleStack';
  }
  if (families.length === 0) {
    const first = asked[0] === undefined ? known[0]! : isIP(asked[0]) === 6 ? 'IPv6' : 'IPv4';
    families.push(first);
  }
  const wantsBoth = text(spec, 'ipFamilyPolicy') !== 'SingleStack';
  const other = families[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  const isServed = known.includes(other) || isBare;
  if (wantsBoth && families.length === 1 && isServed) families.push(other);
  spec['ipFamilies'] = families;
}

/** Allocates the addresses and ports that a service needs and does not have; leaves out those it cannot allocate. */
export function allocate(service: JsonObject, around: RuleContext): void {
  if (!needsAddress(service)) return;
  defaultFamilies(service, around);
  const spec = childOrNew(service, 'spec');
  if (!isHeadless(service)) {
    const used = taken(service, around).addresses;
    const addresses = texts(spec, 'clusterIPs');
    for (const family of texts(spec, 'ipFamilies').slice(addresses.length)) {
      const range = rangeOf(family, around);
      const address = range === undefined ? undefined : freeAddress(range, used, around);
      if (address !== undefined) addresses.push(address);
    }
    for (const address of addresses) remember(address, around);
    if (addresses.length > 0) Object.assign(spec, { clusterIP: addresses[0]!, clusterIPs: addresses });
  }
  if (needsNodePort(service)) allocateNodePorts(service, around);
  if (needsHealthCheckPort(service) && (number(spec, 'healthCheckNodePort') ?? 0) === 0) {
    spec['healthCheckNodePort'] = freePort(taken(service, around).ports, around);
  }
}

function allocateNodePorts(service: JsonObject, around: RuleContext): void {
  const ports = objects(child(service, 'spec'), 'ports');
  const used = taken(service, around).ports;
  for (const port of ports) used.add(number(port, 'nodePort') ?? 0);
  for (const port of ports) {
    if ((number(port, 'nodePort') ?? 0) !== 0) continue;
    const chosen = freePort(used, around);
    used.add(chosen);
    port['nodePort'] = chosen;
  }
}

function freePort(used: ReadonlySet<number>, around: RuleContext): number {
  const { recent, options } = around;
  const { nodePorts } = options;
  const count = nodePorts.last - nodePorts.first + 1;
  const isFree = (port: number): boolean => !used.has(port) && !recent.includes(String(port));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = nodePorts.first + randomInt(count);
    if (isFree(port)) {
      remember(String(port), around);
      return port;
    }
  }
  for (let port = nodePorts.first; port <= nodePorts.last; port++) if (!used.has(port)) return port;
  return 0;
}

function freeAddress(range: AddressRange, used: ReadonlySet<string>, { recent }: RuleContext): string | undefined {
  const hostBits = (range.family === 4 ? 32 : 128) - range.prefixBits;
  // Without the network address, and without the broadcast address of IPv4.
  const count = Number(BigInt(2) ** BigInt(Math.min(hostBits, 16))) - (range.family === 4 ? 2 : 1);
  if (count <= 0) return undefined;
  const nth = (index: number): string => addressText(range.first + BigInt(index + 1), range.family);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const address = nth(randomInt(count));
    if (!used.has(address) && !recent.includes(address)) return address;
  }
  for (let index = 0; index < Math.min(count, WALK_MAX); index++) if (!used.has(nth(index))) return nth(index);
  return undefined;
}

function addressText(value: bigint, family: 4 | 6): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
  const words = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 65_535n).toString(16));
  const whole = words.join(':');
  return whole.replace(/\b0(?::0\b)+/, ':').replace(/:{3,}/, '::') || whole;
}
