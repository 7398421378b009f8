import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import {
  addressProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  endpointAddressProblems,
  portNumberProblems,
} from '../built-in-formats.js';
import { child, has, number, objects, text, texts } from '../fields.js';
import { type KindRules, type KindRulesTable, membersChange } from '../kind-rules.js';
import type { Problems } from '../problems.js';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function checkEndpoints(object: JsonObject, problems: Problems): void {
  for (const [index, subset] of objects(object, 'subsets').entries()) {
    const path = `subsets[${index}]`;
    if (!has(subset, 'addresses') && !has(subset, 'notReadyAddresses')) {
      problems.required(path, 'must specify `addresses` or `notReadyAddresses`');
    }
    for (const list of ['addresses', 'notReadyAddresses']) {
      for (const [at, each] of objects(subset, list).entries()) {
        checkEndpointAddress(problems, `${path}.${list}[${at}]`, each);
      }
    }
    const ports = objects(subset, 'ports');
    for (const [at, port] of ports.entries())
      checkEndpointPort(problems, `${path}.ports[${at}]`, port, ports.length > 1);
  }
}

function checkEndpointAddress(problems: Problems, field: string, address: JsonObject): void {
  const value = text(address, 'ip');
  const found = addressProblems(value);
  problems.invalidEach(`${field}.ip`, value, found);
  if (found.length > 0) problems.invalid(`${field}.ip`, value, 'must be a valid IP address');
  else problems.invalidEach(`${field}.ip`, value, endpointAddressProblems(value));
  const hostname = text(address, 'hostname');
  if (hostname !== '') problems.invalidEach(`${field}.hostname`, hostname, dnsLabelProblems(hostname));
  const node = text(address, 'nodeName');
  if (node !== '') problems.invalidEach(`${field}.nodeName`, node, dnsSubdomainProblems(node));
}

function checkEndpointPort(problems: Problems, field: string, port: JsonObject, needsName: boolean): void {
  const name = text(port, 'name');
  if (name === '') {
    if (needsName) problems.required(`${field}.name`);
  } else problems.invalidEach(`${field}.name`, name, dnsLabelProblems(name));
  const value = number(port, 'port') ?? 0;
  problems.invalidEach(`${field}.port`, value, portNumberProblems(value));
  problems.oneOf(`${field}.protocol`, text(port, 'protocol'), PROTOCOLS);
}

const ENDPOINTS: KindRules = {
  createsOnUpdate: true,
  validate: (object, problems) => checkEndpoints(object, problems),
  warnings: () => ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
};

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const ADDRESSES_MAX = 100;

function checkSlice(slice: JsonObject, problems: Problems): void {
  const type = text(slice, 'addressType');
  if (type === '') problems.required('addressType');
  else problems.oneOf('addressType', type, ADDRESS_TYPES);
  const names = new Set<string>();
  for (const [index, port] of objects(slice, 'ports').entries()) {
    const path = `ports[${index}]`;
    const name = text(port, 'name');
    if (name !== '') problems.invalidEach(`${path}.name`, name, dnsLabelProblems(name));
    if (names.has(name)) problems.duplicate(`${path}.name`, name);
    names.add(name);
    problems.oneOf(`${path}.protocol`, text(port, 'protocol'), PROTOCOLS);
  }
  for (const [index, endpoint] of objects(slice, 'endpoints').entries()) {
    checkSliceEndpoint(problems, `endpoints[${index}]`, endpoint, type);
  }
}

function checkSliceEndpoint(problems: Problems, field: string, endpoint: JsonObject, type: string): void {
  const addresses = texts(endpoint, 'addresses');
  if (addresses.length === 0) problems.required(`${field}.addresses`, 'must contain at least 1 address');
  else if (addresses.length > ADDRESSES_MAX) problems.tooMany(`${field}.addresses`, addresses.length, ADDRESSES_MAX);
  for (const [index, address] of addresses.entries()) {
    const path = `${field}.addresses[${index}]`;
    if (type === 'FQDN') problems.invalidEach(path, address, dnsSubdomainProblems(address));
    if (type !== 'IPv4' && type !== 'IPv6') continue;
    const found = addressProblems(address);
    const isOther = found.length === 0 && address.includes(':') !== (type === 'IPv6');
    if (isOther) problems.invalid(path, address, `must be an ${type} address`);
    else problems.invalidEach(path, address, found.length > 0 ? found : endpointAddressProblems(address));
  }
  const hostname = text(endpoint, 'hostname');
  if (hostname !== '') problems.invalidEach(`${field}.hostname`, hostname, dnsLabelProblems(hostname));
  const node = text(endpoint, 'nodeName');
  if (node !== '') problems.invalidEach(`${field}.nodeName`, node, dnsSubdomainProblems(node));
}

const ENDPOINT_SLICES: KindRules = {
  generationChanges: (object, live) => {
    const labels = (each: JsonObject): JsonObject | undefined => child(child(each, 'metadata'), 'labels');
    return membersChange('endpoints', 'ports', 'addressType')(object, live) || !jsonEqual(labels(object), labels(live));
  },
  validate: (slice, problems, _around, live) => {
    const isChanged = live !== undefined && !jsonEqual(slice['addressType'], live['addressType']);
    if (isChanged) problems.invalid('addressType', slice['addressType'], 'field is immutable');
    else checkSlice(slice, problems);
  },
};

export const ENDPOINT_RULES: KindRulesTable = {
  '/endpoints': ENDPOINTS,
  'discovery.k8s.io/endpointslices': ENDPOINT_SLICES,
};
