import { isIP } from 'node:net';
import type { JsonObject } from '../../../kube/json.js';
import {
  addressProblems,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  isInRange,
  parseRange,
  pathSegmentProblems,
  portNameProblems,
  portNumberProblems,
  rangeProblems,
  wildcardSubdomainProblems,
} from '../built-in-formats.js';
import { child, eachObject, eachText, has, number, objects, specOf, text, texts } from '../fields.js';
import {
  type KindRules,
  type KindRulesTable,
  keepsMember,
  RESET_STATUS,
  type RuleContext,
  specChanges,
} from '../kind-rules.js';
import type { Problems } from '../problems.js';
import type { SurfaceTraits } from '../type-defaults.js';
import { checkPortNumberOrName } from '../validation/handlers.js';
import { checkLabelSelector } from '../validation/labels.js';
import { checkPrefixedPath } from '../validation/paths.js';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const PATH_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const PATH_ENDS = ['/..', '/.'];

const hostProblems = (host: string): string[] =>
  host.includes('*') ? wildcardSubdomainProblems(host) : dnsSubdomainProblems(host);

function checkIngress(ingress: JsonObject, problems: Problems, surface: SurfaceTraits): void {
  const spec = specOf(ingress);
  const fallback = child(spec, 'defaultBackend');
  const rules = objects(spec, 'rules');
  if (rules.length === 0 && fallback === undefined) {
    problems.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified');
  }
  if (fallback !== undefined) checkBackend(problems, 'spec.defaultBackend', fallback, surface);
  for (const [path, rule] of eachObject(spec, 'spec', 'rules')) checkRule(problems, path, rule, surface);
  for (const [path, tls] of eachObject(spec, 'spec', 'tls')) {
    for (const [place, host] of eachText(tls, path, 'hosts')) problems.format(place, host, hostProblems);
    problems.optionalFormat(`${path}.secretName`, text(tls, 'secretName'), dnsSubdomainProblems);
  }
  problems.optionalFormat('spec.ingressClassName', text(spec, 'ingressClassName'), dnsSubdomainProblems);
}

function checkRule(problems: Problems, field: string, rule: JsonObject, surface: SurfaceTraits): void {
  const host = text(rule, 'host');
  if (host !== '') {
    if (isIP(host) !== 0) problems.invalid(`${field}.host`, host, 'must be a DNS name, not an IP address');
    problems.format(`${field}.host`, host, hostProblems);
  }
  const http = child(rule, 'http');
  if (http === undefined) return;
  problems.requiredMembers(http, `${field}.http`, 'paths');
  for (const [path, each] of eachObject(http, `${field}.http`, 'paths')) checkPath(problems, path, each, surface);
}

function checkPath(problems: Problems, field: string, path: JsonObject, surface: SurfaceTraits): void {
  if (!has(path, 'pathType')) {
    problems.required(`${field}.pathType`, 'pathType must be specified');
    return;
  }
  const type = text(path, 'pathType');
  const value = text(path, 'path');
  if (!PATH_TYPES.includes(type)) problems.unsupported(`${field}.pathType`, type, PATH_TYPES);
  else if (!value.startsWith('/') && (type !== 'ImplementationSpecific' || value !== '')) {
    problems.invalid(`${field}.path`, value, 'must be an absolute path');
  }
  if (type === 'Exact' || type === 'Prefix') {
    for (const part of PATH_PARTS) {
      if (value.includes(part)) problems.invalid(`${field}.path`, value, `must not contain '${part}'`);
    }
    for (const end of PATH_ENDS) {
      if (value.endsWith(end)) problems.invalid(`${field}.path`, value, `cannot end with '${end}'`);
    }
  }
  checkBackend(problems, `${field}.backend`, child(path, 'backend') ?? {}, surface);
}

function checkBackend(problems: Problems, field: string, backend: JsonObject, { minor }: SurfaceTraits): void {
  const service = child(backend, 'service');
  if (has(backend, 'resource') && service !== undefined) {
    problems.invalid(field, '', 'cannot set both resource and service backends');
  } else if (has(backend, 'resource')) {
    problems.requiredMembers(child(backend, 'resource'), `${field}.resource`, 'kind', 'name');
  } else if (service === undefined) problems.invalid(field, '', 'resource or service backend is required');
  else {
    const rule = minor >= 36 ? dnsLabelProblems : dns1035LabelProblems;
    problems.requiredFormat(`${field}.service.name`, text(service, 'name'), rule);
    checkBackendPort(problems, field, child(service, 'port') ?? {});
  }
}

function checkBackendPort(problems: Problems, field: string, port: JsonObject): void {
  const name = text(port, 'name');
  const value = number(port, 'number') ?? 0;
  if (name !== '' && value !== 0) problems.invalid(field, '', 'cannot set both port name & port number');
  else if (name !== '') problems.format(`${field}.service.port.name`, name, portNameProblems);
  else if (value !== 0) problems.format(`${field}.service.port.number`, value, portNumberProblems);
  else problems.required(field, 'port name or number is required');
}

const INGRESS_CLASSES: KindRules = {
  generationChanges: specChanges,
  validate: (object, problems, _around, live) => {
    const spec = specOf(object);
    if (live === undefined) checkPrefixedPath(problems, 'spec.controller', text(spec, 'controller'));
    const parameters = child(spec, 'parameters');
    if (parameters === undefined) return;
    const field = 'spec.parameters';
    for (const name of ['kind', 'name']) {
      problems.requiredFormat(`${field}.${name}`, text(parameters, name), pathSegmentProblems);
    }
    const scope = text(parameters, 'scope');
    problems.oneOf(`${field}.scope`, scope, ['Cluster', 'Namespace']);
    const namespace = text(parameters, 'namespace');
    if (scope === 'Namespace' && namespace === '') {
      problems.required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'");
    } else if (scope === 'Cluster' && namespace !== '') {
      problems.forbidden(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'");
    }
  },
  validateUpdate: (object, live, problems) => keepsMember(problems, 'spec.controller', specOf(object), specOf(live)),
};

function checkPolicy(policy: JsonObject, problems: Problems, { surface }: RuleContext): void {
  const spec = specOf(policy);
  checkLabelSelector(problems, 'spec.podSelector', child(spec, 'podSelector'));
  for (const [list, peers] of Object.entries({ ingress: 'from', egress: 'to' })) {
    for (const [field, rule] of eachObject(spec, 'spec', list)) {
      for (const [path, port] of eachObject(rule, field, 'ports')) checkPolicyPort(problems, path, port, surface);
      for (const [path, peer] of eachObject(rule, field, peers)) checkPeer(problems, path, peer);
    }
  }
  const types = texts(spec, 'policyTypes');
  if (types.length > 2) problems.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes');
  for (const [path, type] of eachText(spec, 'spec', 'policyTypes')) problems.oneOf(path, type, ['Ingress', 'Egress']);
}

function checkPolicyPort(problems: Problems, field: string, port: JsonObject, { minor }: SurfaceTraits): void {
  problems.oneOf(`${field}.protocol`, text(port, 'protocol'), ['TCP', 'UDP', 'SCTP']);
  const value = port['port'];
  const end = number(port, 'endPort');
  if (value !== undefined) checkPortNumberOrName(problems, `${field}.port`, value);
  if (end === undefined) return;
  if (value === undefined)
    problems.invalid(`${field}.endPort`, end, 'may not be specified when `port` is not specified');
  else if (typeof value === 'string') {
    problems.invalid(`${field}.endPort`, end, 'may not be specified when `port` is non-numeric');
  } else {
    if (typeof value === 'number' && end < value) {
      problems.invalid(`${field}.endPort`, minor >= 37 ? end : value, 'must be greater than or equal to `port`');
    }
    problems.format(`${field}.endPort`, end, portNumberProblems);
  }
}

function checkPeer(problems: Problems, field: string, peer: JsonObject): void {
  const found = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) => has(peer, name));
  for (const name of ['podSelector', 'namespaceSelector']) {
    checkLabelSelector(problems, `${field}.${name}`, child(peer, name));
  }
  const block = child(peer, 'ipBlock');
  if (block !== undefined) checkBlock(problems, `${field}.ipBlock`, block);
  if (found.length === 0) problems.required(field, 'must specify a peer');
  else if (found.length > 1 && block !== undefined) {
    problems.forbidden(field, 'may not specify both ipBlock and another peer');
  }
}

function checkBlock(problems: Problems, field: string, block: JsonObject): void {
  const cidr = text(block, 'cidr');
  problems.requiredFormat(`${field}.cidr`, cidr, rangeProblems);
  if (cidr === '') return;
  const range = parseRange(cidr);
  for (const [path, except] of eachText(block, field, 'except')) {
    const inner = parseRange(except);
    problems.format(path, except, rangeProblems);
    if (range === undefined || inner === undefined) continue;
    const isInside = isInRange(except.split('/')[0]!, range) && inner.prefixBits > range.prefixBits;
    if (!isInside) problems.invalid(path, except, 'must be a strict subset of `cidr`');
  }
}

export const NETWORKING_RULES: KindRulesTable = {
  'networking.k8s.io/ingresses': {
    generationChanges: specChanges,
    validate: (ingress, problems, { surface }) => checkIngress(ingress, problems, surface),
  },
  'networking.k8s.io/ingressclasses': INGRESS_CLASSES,
  'networking.k8s.io/networkpolicies': {
    generationChanges: specChanges,
    validate: checkPolicy,
  },
  'networking.k8s.io/ipaddresses': {
    nameProblems: addressProblems,
    validate: (object, problems) => {
      const parent = child(specOf(object), 'parentRef');
      if (parent === undefined) problems.required('spec.parentRef');
      else if (text(parent, 'resource') === '') problems.required('spec.parentRef.resource');
      else if (text(parent, 'name') === '') problems.required('spec.parentRef.name');
    },
  },
  'networking.k8s.io/servicecidrs': { parts: { status: RESET_STATUS } },
};
