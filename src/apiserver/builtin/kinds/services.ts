import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import {
  addressProblems,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  endpointAddressProblems,
  labelKeyProblems,
  PROTOCOLS,
  portNumberProblems,
  rangeProblems,
} from '../built-in-formats.js';
import {
  child,
  childOrNew,
  eachObject,
  eachText,
  has,
  number,
  objects,
  remove,
  restore,
  specOf,
  text,
  textMap,
  texts,
} from '../fields.js';
import type { KindRules, KindRulesTable, RuleContext } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import {
  addressRefusal,
  allocate,
  familiesOf,
  isHeadless,
  needsAddress,
  needsHealthCheckPort,
  needsNodePort,
} from '../service-allocation.js';
import { checkPortNumberOrName } from '../validation/handlers.js';
import { checkLabels } from '../validation/labels.js';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const FAMILIES = ['IPv4', 'IPv6'];
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const AFFINITY_SECONDS_MAX = 86_400;

/** Aligns `clusterIP` with `clusterIPs`, the newer field, of which it is the first value. */
function alignAddresses(service: JsonObject, live: JsonObject | undefined): void {
  const spec = childOrNew(service, 'spec');
  const before = live === undefined ? {} : specOf(live);
  const address = text(spec, 'clusterIP');
  const isSameList = jsonEqual(spec['clusterIPs'], before['clusterIPs']);
  if (
    address !== '' &&
    (!has(spec, 'clusterIPs') || (live !== undefined && isSameList && address !== text(before, 'clusterIP')))
  ) {
    spec['clusterIPs'] = [address];
  } else if (address === '' && live !== undefined && isSameList) remove(spec, 'clusterIPs');
}

/** Keeps allocated addresses and ports that the update does not mention. */
function keepAllocated(service: JsonObject, live: JsonObject): void {
  const spec = childOrNew(service, 'spec');
  const before = specOf(live);
  if (needsAddress(service) && needsAddress(live)) {
    if (!has(spec, 'clusterIP')) restore(spec, before, 'clusterIP', 'clusterIPs');
    else if (!has(spec, 'clusterIPs') && text(spec, 'clusterIP') === text(before, 'clusterIP')) {
      restore(spec, before, 'clusterIPs');
    }
    for (const name of ['ipFamilies', 'ipFamilyPolicy']) if (!has(spec, name)) restore(spec, before, name);
  }
  if (needsNodePort(service) && needsNodePort(live)) {
    const key = (port: JsonObject): string => `${text(port, 'protocol')}/${number(port, 'port')}`;
    const known = new Map(objects(before, 'ports').map((port) => [key(port), number(port, 'nodePort')]));
    for (const port of objects(spec, 'ports')) {
      const given = known.get(key(port));
      if (!has(port, 'nodePort') && given !== undefined) port['nodePort'] = given;
    }
  }
  if (needsHealthCheckPort(service) && needsHealthCheckPort(live) && !has(spec, 'healthCheckNodePort')) {
    restore(spec, before, 'healthCheckNodePort');
  }
}

const isExternal = (service: JsonObject): boolean => {
  const spec = specOf(service);
  const type = text(spec, 'type');
  return type === 'ClusterIP' ? texts(spec, 'externalIPs').length > 0 : type === 'LoadBalancer' || type === 'NodePort';
};

/** Removes fields of the former type, unless the update changes them too. */
function dropOfFormerType(service: JsonObject, live: JsonObject): void {
  const spec = childOrNew(service, 'spec');
  const before = specOf(live);
  const drop = (isNeeded: (object: JsonObject) => boolean, ...names: readonly string[]): void => {
    if (!isNeeded(live) || isNeeded(service)) return;
    for (const name of names) if (jsonEqual(spec[name], before[name])) delete spec[name];
  };
  drop(needsAddress, 'clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy');
  drop(needsHealthCheckPort, 'healthCheckNodePort');
  drop(
    (object) => text(specOf(object), 'type') === 'LoadBalancer',
    'allocateLoadBalancerNodePorts',
    'loadBalancerClass',
  );
  drop(isExternal, 'externalTrafficPolicy');
  if (!needsNodePort(live) || needsNodePort(service)) return;
  const ports = objects(spec, 'ports');
  const isSame = jsonEqual(
    ports.map((port) => port['nodePort'] ?? 0),
    objects(before, 'ports').map((port) => port['nodePort'] ?? 0),
  );
  if (isSame) for (const port of ports) delete port['nodePort'];
}

/** Checks that addresses and ports can be allocated. kube-apiserver reports other problems only after that. */
function checkAllocation(service: JsonObject, problems: Problems, around: RuleContext): void {
  if (!needsAddress(service)) return;
  const spec = specOf(service);
  checkAddresses(problems, spec);
  if (problems.count > 0) return;
  const known = familiesOf(around);
  const policy = text(spec, 'ipFamilyPolicy');
  const isBare = isHeadless(service) && Object.keys(textMap(spec, 'selector')).length === 0;
  if (policy === 'RequireDualStack' && known.length < 2 && !isBare) {
    problems.invalid('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services');
  }
  for (const [path, family] of eachText(spec, 'spec', 'ipFamilies')) {
    if (known.includes(family) || isBare) continue;
    problems.invalid(path, family, 'not configured on this cluster');
  }
  if (problems.count > 0 || isHeadless(service)) return;
  const families = texts(spec, 'ipFamilies');
  for (const [index, address] of texts(spec, 'clusterIPs').entries()) {
    const refusal = addressRefusal(service, { address, family: families[index] ?? known[0]!, around });
    if (refusal !== undefined) problems.invalid('spec.clusterIPs', texts(spec, 'clusterIPs'), refusal);
  }
  if (texts(spec, 'clusterIPs').length === 0) {
    problems.invalid('spec.clusterIPs', [], 'failed to allocate a serviceIP: range is full');
  }
  checkNodePorts(problems, service, around);
}

function checkNodePorts(problems: Problems, service: JsonObject, { options: { nodePorts } }: RuleContext): void {
  if (!needsNodePort(service)) return;
  const { first, last } = nodePorts;
  for (const [path, port] of eachObject(specOf(service), 'spec', 'ports')) {
    const value = number(port, 'nodePort') ?? 0;
    if (value >= first && value <= last) continue;
    const rule = `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
    problems.invalid(`${path}.nodePort`, value, rule);
  }
}

function checkAddresses(problems: Problems, spec: JsonObject): void {
  const addresses = texts(spec, 'clusterIPs');
  const first = text(spec, 'clusterIP');
  const field = 'spec.clusterIPs';
  if (first !== '' && addresses.length === 0) problems.required(field);
  else if (first !== '' && addresses[0] !== first) {
    problems.invalid(field, addresses, 'first value must match `clusterIP`');
  } else if (first === '' && addresses.length > 0) {
    problems.invalid(field, addresses, 'must be empty when `clusterIP` is not specified');
  }
  const seen = new Set<string>();
  for (const [path, family] of eachText(spec, 'spec', 'ipFamilies')) {
    problems.oneOf(path, family, FAMILIES);
    problems.unique(path, family, seen);
  }
  problems.optionalOneOf(spec, 'spec', 'ipFamilyPolicy', POLICIES);
  for (const [index, address] of addresses.entries()) {
    if (index === 0 && address === 'None') {
      if (addresses.length > 1) problems.invalid(field, addresses, "'None' must be the first and only value");
      continue;
    }
    problems.format(`${field}[${index}]`, address, addressProblems);
  }
  if (addresses.length > 2) problems.invalid(field, addresses, 'may only hold up to 2 values');
}

function checkService(service: JsonObject, problems: Problems): void {
  const spec = specOf(service);
  const type = text(spec, 'type');
  if (objects(spec, 'ports').length === 0 && !isHeadless(service) && type !== 'ExternalName') {
    problems.required('spec.ports');
  }
  checkType(problems, service, type);
  checkPorts(problems, spec);
  checkLabels(problems, 'spec.selector', textMap(spec, 'selector'));
  checkAffinity(problems, spec);
  for (const [path, address] of eachText(spec, 'spec', 'externalIPs')) {
    const found = addressProblems(address);
    const field = path;
    problems.invalidEach(field, address, found.length > 0 ? found : endpointAddressProblems(address));
  }
  problems.oneOf('spec.type', type, TYPES);
  checkPortsAreDistinct(problems, spec, type);
  checkBalancing(problems, service);
  checkTraffic(problems, service);
}

function checkType(problems: Problems, service: JsonObject, type: string): void {
  const spec = specOf(service);
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(service)) {
    problems.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`);
  }
  if (type !== 'ExternalName') return;
  for (const name of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (has(spec, name)) problems.forbidden(`spec.${name}`, 'may not be set for ExternalName services');
  }
  const name = text(spec, 'externalName').replace(/\.$/, '');
  problems.requiredFormat('spec.externalName', name, dnsSubdomainProblems);
}

function checkPorts(problems: Problems, spec: JsonObject): void {
  const ports = objects(spec, 'ports');
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    const name = text(port, 'name');
    if (name === '' && ports.length > 1) problems.required(`${path}.name`);
    if (name !== '') {
      problems.format(`${path}.name`, name, dnsLabelProblems);
      problems.unique(`${path}.name`, name, names);
    }
    const value = number(port, 'port') ?? 0;
    problems.format(`${path}.port`, value, portNumberProblems);
    problems.oneOf(`${path}.protocol`, text(port, 'protocol'), PROTOCOLS);
    checkPortNumberOrName(problems, `${path}.targetPort`, port['targetPort']);
    problems.optionalFormat(`${path}.appProtocol`, text(port, 'appProtocol'), labelKeyProblems);
  }
}

function checkAffinity(problems: Problems, spec: JsonObject): void {
  const affinity = text(spec, 'sessionAffinity');
  problems.oneOf('spec.sessionAffinity', affinity, ['ClientIP', 'None']);
  if (affinity !== 'ClientIP') return;
  const seconds = number(child(child(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds') ?? 0;
  if (seconds > 0 && seconds <= AFFINITY_SECONDS_MAX) return;
  const rule = `must be greater than 0 and less than ${AFFINITY_SECONDS_MAX}`;
  problems.invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, rule);
}

function checkPortsAreDistinct(problems: Problems, spec: JsonObject, type: string): void {
  const nodePorts = new Set<string>();
  const ports = new Set<string>();
  for (const [path, each] of eachObject(spec, 'spec', 'ports')) {
    const nodePort = number(each, 'nodePort') ?? 0;
    const protocol = text(each, 'protocol');
    const field = path;
    if (nodePort !== 0) {
      if (type === 'ClusterIP') problems.forbidden(`${field}.nodePort`, "may not be used when `type` is 'ClusterIP'");
      if (nodePorts.has(`${protocol}/${nodePort}`)) problems.duplicate(`${field}.nodePort`, nodePort);
      nodePorts.add(`${protocol}/${nodePort}`);
    }
    const port = number(each, 'port') ?? 0;
    if (ports.has(`${protocol}/${port}`)) {
      const printed = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
      problems.duplicate(field, printed);
    }
    ports.add(`${protocol}/${port}`);
  }
}

function checkBalancing(problems: Problems, service: JsonObject): void {
  const spec = specOf(service);
  const isBalanced = text(spec, 'type') === 'LoadBalancer';
  const rule = "may only be used when `type` is 'LoadBalancer'";
  const ranges = texts(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0 && !isBalanced) problems.forbidden('spec.LoadBalancerSourceRanges', rule);
  for (const [index, range] of ranges.entries()) {
    problems.invalidEach(`spec.LoadBalancerSourceRanges[${index}]`, range.trim(), rangeProblems(range.trim()));
  }
  if (has(spec, 'allocateLoadBalancerNodePorts') && !isBalanced) {
    problems.forbidden('spec.allocateLoadBalancerNodePorts', rule);
  }
  const className = text(spec, 'loadBalancerClass');
  if (className === '') return;
  if (!isBalanced) problems.forbidden('spec.loadBalancerClass', rule);
  else problems.format('spec.loadBalancerClass', className, labelKeyProblems);
}

function checkTraffic(problems: Problems, service: JsonObject): void {
  const spec = specOf(service);
  const external = text(spec, 'externalTrafficPolicy');
  if (!isExternal(service)) {
    if (external !== '') {
      problems.invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services');
    }
  } else problems.oneOf('spec.externalTrafficPolicy', external, ['Cluster', 'Local']);
  const healthPort = number(spec, 'healthCheckNodePort') ?? 0;
  if (healthPort !== 0 && !needsHealthCheckPort(service)) {
    const rule = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    problems.invalid('spec.healthCheckNodePort', healthPort, rule);
  }
  problems.optionalOneOf(spec, 'spec', 'internalTrafficPolicy', ['Cluster', 'Local']);
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  problems.optionalOneOf(spec, 'spec', 'trafficDistribution', distributions);
}

/** The allocated addresses of a service cannot change. */
function checkAddressStays(service: JsonObject, live: JsonObject, problems: Problems): void {
  if (!needsAddress(service) || !needsAddress(live)) return;
  const now = texts(specOf(service), 'clusterIPs');
  const before = texts(specOf(live), 'clusterIPs');
  for (const [index, address] of before.entries()) {
    if (now[index] === undefined && index === 0) {
      problems.invalid('spec.clusterIPs[0]', now, 'primary clusterIP can not be unset');
    } else if (now[index] !== undefined && now[index] !== address) {
      problems.invalid(`spec.clusterIPs[${index}]`, now, 'may not change once set');
    }
  }
}

const SERVICES: KindRules = {
  // A leading digit is allowed since 1.36.
  nameProblems: (name, { minor }) => (minor >= 36 ? dnsLabelProblems(name) : dns1035LabelProblems(name)),
  createsOnUpdate: true,
  prepareForCreate: (service, around) => {
    alignAddresses(service, undefined);
    allocate(service, around);
  },
  prepareForUpdate: (service, live, around) => {
    alignAddresses(service, live);
    keepAllocated(service, live);
    dropOfFormerType(service, live);
    allocate(service, around);
  },
  validate: (service, problems, around, live) => {
    if (live !== undefined) checkAddressStays(service, live, problems);
    if (problems.count === 0) checkAllocation(service, problems, around);
    if (problems.count === 0) checkService(service, problems);
  },
  warnings: (service, _live, { minor }) =>
    minor >= 36 && texts(specOf(service), 'externalIPs').length > 0
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : [],
};

export const SERVICE_RULES: KindRulesTable = { '/services': SERVICES };
