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
import { child, has, number, objects, text, texts } from '../fields.js';
import { type KindRules, type KindRulesTable, keepsMember, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import type { SurfaceTraits } from '../type-defaults.js';
import { checkPortNumberOrName } from '../validation/handlers.js';
import { checkLabelSelector } from '../validation/labels.js';
import { checkPrefixedPath } from '../validation/paths.js';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const PATH_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const PATH_ENDS = ['/..', '/.'];

const specOf = (object: JsonObject): JsonObject => child(object, 'spec') ?? {};
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
  for (const [index, rule] of rules.entries()) checkRule(problems, `spec.rules[${index}]`, rule, surface);
  for (const [index, tls] of objects(spec, 'tls').entries()) {
    for (const [at, host] of texts(tls, 'hosts').entries()) {
      problems.invalidEach(`spec.tls[${index}].hosts[${at}]`, host, hostProblems(host));
    }
    const secret = text(tls, 'secretName');
    if (secret !== '') problems.invalidEach(`spec.tls[${index}].secretName`, secret, dnsSubdomainProblems(secret));
  }
  const className = text(spec, 'ingressClassName');
  if (className !== '') problems.invalidEach('spec.ingressClassName', className, dnsSubdomainProblems(className));
}

function checkRule(problems: Problems, field: string, rule: JsonObject, surface: SurfaceTraits): void {
  const host = text(rule, 'host');
  if (host !== '') {
    if (isIP(host) !== 0) problems.invalid(`${field}.host`, host, 'must be a DNS name, not an IP address');
    problems.invalidEach(`${field}.host`, host, hostProblems(host));
  }
  const http = child(rule, 'http');
  if (http === undefined) return;
  const paths = objects(http, 'paths');
  if (paths.length === 0) problems.required(`${field}.http.paths`);
  for (const [index, path] of paths.entries()) checkPath(problems, `${field}.http.paths[${index}]`, path, surface);
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
    for (const name of ['kind', 'name']) {
      if (text(child(backend, 'resource'), name) === '') problems.required(`${field}.resource.${name}`);
    }
  } else if (service === undefined) problems.invalid(field, '', 'resource or service backend is required');
  else {
    const name = text(service, 'name');
    const rule = minor >= 36 ? dnsLabelProblems : dns1035LabelProblems;
    if (name === '') problems.required(`${field}.service.name`);
    else problems.invalidEach(`${field}.service.name`, name, rule(name));
    checkBackendPort(problems, field, child(service, 'port') ?? {});
  }
}

function checkBackendPort(problems: Problems, field: string, port: JsonObject): void {
  const name = text(port, 'name');
  const value = number(port, 'number') ?? 0;
  if (name !== '' && value !== 0) problems.invalid(field, '', 'cannot set both port name & port number');
  else if (name !== '') problems.invalidEach(`${field}.service.port.name`, name, portNameProblems(name));
  else if (value !== 0) problems.invalidEach(`${field}.service.port.number`, value, portNumberProblems(value));
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
      const value = text(parameters, name);
      if (value === '') problems.required(`${field}.${name}`);
      else problems.invalidEach(`${field}.${name}`, value, pathSegmentProblems(value));
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
  validateUpdate: (object, live, problems) =>
    keepsMember(problems, { object: specOf(object), live: specOf(live), path: 'spec.controller', name: 'controller' }),
};

function checkPolicy(policy: JsonObject, problems: Problems): void {
  const spec = specOf(policy);
  checkLabelSelector(problems, 'spec.podSelector', child(spec, 'podSelector'));
  for (const [list, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [index, rule] of objects(spec, list).entries()) {
      const field = `spec.${list}[${index}]`;
      for (const [at, port] of objects(rule, 'ports').entries()) {
        checkPolicyPort(problems, `${field}.ports[${at}]`, port);
      }
      for (const [at, peer] of objects(rule, peers).entries()) checkPeer(problems, `${field}.${peers}[${at}]`, peer);
    }
  }
  const types = texts(spec, 'policyTypes');
  if (types.length > 2) problems.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes');
  for (const [index, type] of types.entries())
    problems.oneOf(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']);
}

function checkPolicyPort(problems: Problems, field: string, port: JsonObject): void {
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
      problems.invalid(`${field}.endPort`, value, 'must be greater than or equal to `port`');
    }
    problems.invalidEach(`${field}.endPort`, end, portNumberProblems(end));
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
  const text_ = text(block, 'cidr');
  if (text_ === '') {
    problems.required(`${field}.cidr`);
    return;
  }
  const range = parseRange(text_);
  problems.invalidEach(`${field}.cidr`, text_, rangeProblems(text_));
  for (const [index, except] of texts(block, 'except').entries()) {
    const path = `${field}.except[${index}]`;
    const inner = parseRange(except);
    problems.invalidEach(path, except, rangeProblems(except));
    if (range === undefined || inner === undefined) continue;
    const isInside = isInRange(except.split('/')[0]!, range) && inner.prefixBits > range.prefixBits;
    if (!isInside) problems.invalid(path, except, 'must be a strict subset of `cidr`');
  }
}

const RESET_STATUS = { keptMetadata: 'all', ignoredPaths: ['f:metadata', 'f:spec'] } as const;

export const NETWORKING_RULES: KindRulesTable = {
  'networking.k8s.io/ingresses': {
    generationChanges: specChanges,
    validate: (ingress, problems, { surface }) => checkIngress(ingress, problems, surface),
  },
  'networking.k8s.io/ingressclasses': INGRESS_CLASSES,
  'networking.k8s.io/networkpolicies': {
    generationChanges: specChanges,
    validate: (policy, problems) => checkPolicy(policy, problems),
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
