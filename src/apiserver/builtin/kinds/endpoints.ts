import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import {
  addressProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  endpointAddressProblems,
  PROTOCOLS,
  portNumberProblems,
} from '../built-in-formats.js';
import { child, eachObject, eachText, has, number, objects, text, texts } from '../fields.js';
import { type KindRules, type KindRulesTable, keepsDeclaredMember, membersChange } from '../kind-rules.js';
import type { Problems } from '../problems.js';

function checkEndpoints(object: JsonObject, problems: Problems): void {
  for (const [path, subset] of eachObject(object, '', 'subsets')) {
    if (!has(subset, 'addresses') && !has(subset, 'notReadyAddresses')) {
      problems.required(path, 'must specify `addresses` or `notReadyAddresses`');
    }
    for (const list of ['addresses', 'notReadyAddresses']) {
      for (const [place, each] of eachObject(subset, path, list)) checkEndpointAddress(problems, place, each);
    }
    const needsName = objects(subset, 'ports').length > 1;
    for (const [place, port] of eachObject(subset, path, 'ports')) checkEndpointPort(problems, place, port, needsName);
  }
}

function checkEndpointAddress(problems: Problems, field: string, address: JsonObject): void {
  const value = text(address, 'ip');
  const found = addressProblems(value);
  problems.invalidEach(`${field}.ip`, value, found);
  if (found.length > 0) problems.invalid(`${field}.ip`, value, 'must be a valid IP address');
  else problems.format(`${field}.ip`, value, endpointAddressProblems);
  problems.optionalFormat(`${field}.hostname`, text(address, 'hostname'), dnsLabelProblems);
  problems.optionalFormat(`${field}.nodeName`, text(address, 'nodeName'), dnsSubdomainProblems);
}

function checkEndpointPort(problems: Problems, field: string, port: JsonObject, needsName: boolean): void {
  if (needsName) problems.requiredMembers(port, field, 'name');
  problems.optionalFormat(`${field}.name`, text(port, 'name'), dnsLabelProblems);
  const value = number(port, 'port') ?? 0;
  problems.format(`${field}.port`, value, portNumberProblems);
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
  for (const [path, port] of eachObject(slice, '', 'ports')) {
    const name = text(port, 'name');
    problems.optionalFormat(`${path}.name`, name, dnsLabelProblems);
    problems.unique(`${path}.name`, name, names);
    problems.oneOf(`${path}.protocol`, text(port, 'protocol'), PROTOCOLS);
  }
  for (const [path, endpoint] of eachObject(slice, '', 'endpoints')) checkSliceEndpoint(problems, path, endpoint, type);
}

function checkSliceEndpoint(problems: Problems, field: string, endpoint: JsonObject, type: string): void {
  const addresses = texts(endpoint, 'addresses');
  if (addresses.length === 0) problems.required(`${field}.addresses`, 'must contain at least 1 address');
  else if (addresses.length > ADDRESSES_MAX) problems.tooMany(`${field}.addresses`, addresses.length, ADDRESSES_MAX);
  for (const [path, address] of eachText(endpoint, field, 'addresses')) {
    if (type === 'FQDN') problems.format(path, address, dnsSubdomainProblems);
    if (type !== 'IPv4' && type !== 'IPv6') continue;
    const found = addressProblems(address);
    const isOther = found.length === 0 && address.includes(':') !== (type === 'IPv6');
    if (isOther) problems.invalid(path, address, `must be an ${type} address`);
    else problems.invalidEach(path, address, found.length > 0 ? found : endpointAddressProblems(address));
  }
  problems.optionalFormat(`${field}.hostname`, text(endpoint, 'hostname'), dnsLabelProblems);
  problems.optionalFormat(`${field}.nodeName`, text(endpoint, 'nodeName'), dnsSubdomainProblems);
}

const ENDPOINT_SLICES: KindRules = {
  generationChanges: (object, live) => {
    const labels = (each: JsonObject): JsonObject | undefined => child(child(each, 'metadata'), 'labels');
    return membersChange('endpoints', 'ports', 'addressType')(object, live) || !jsonEqual(labels(object), labels(live));
  },
  validate: (slice, problems, { surface }, live) => {
    const isChanged = live !== undefined && !jsonEqual(slice['addressType'], live['addressType']);
    if (isChanged) keepsDeclaredMember(problems, 'addressType', slice, live, surface);
    else checkSlice(slice, problems);
  },
};

export const ENDPOINT_RULES: KindRulesTable = {
  '/endpoints': ENDPOINTS,
  'discovery.k8s.io/endpointslices': ENDPOINT_SLICES,
};
