import type { Json, JsonObject } from '../../kube/json.js';
import { at, objectsAt, orNone, textAt } from './cells.js';
import { simple } from './core-printers.js';
import type { TablePrinter } from './table.js';

const SHOWN_MAX = 3;

const textsAt = (object: Json | undefined, ...path: readonly string[]): string[] => {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.map(String) : [];
};

/** The first few, and how many are not shown. */
function firstFew(items: readonly string[], none: string): string {
  const shown = items.slice(0, SHOWN_MAX).join(',');
  if (items.length > SHOWN_MAX) return `${shown} + ${items.length - SHOWN_MAX} more...`;
  return shown === '' ? none : shown;
}

export const ENDPOINTS_PRINTER = simple('Name:name Endpoints Age', (object) => {
  const subsets = objectsAt(object, 'subsets');
  const places = subsets.flatMap((subset) => {
    const addresses = objectsAt(subset, 'addresses').map((each) => textAt(each, 'ip'));
    const ports = objectsAt(subset, 'ports');
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => `${bracketed(address)}:${at(port, 'port')}`));
  });
  return [subsets.length === 0 ? '<none>' : firstFew(places, '')];
});

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

export const ENDPOINT_SLICE_PRINTER = simple('Name:name AddressType Ports Endpoints Age', (object) => [
  textAt(object, 'addressType'),
  firstFew(
    objectsAt(object, 'ports').map((port) => String(at(port, 'port') ?? at(port, 'name') ?? '*')),
    '<unset>',
  ),
  firstFew(
    objectsAt(object, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses')),
    '<unset>',
  ),
]);

export const INGRESS_PRINTER = simple('Name:name Class Hosts Address Ports Age', (object) => {
  const rules = objectsAt(object, 'spec', 'rules');
  const balanced = objectsAt(object, 'status', 'loadBalancer', 'ingress').map(
    (each) => textAt(each, 'ip') || textAt(each, 'hostname'),
  );
  return [
    orNone(textAt(object, 'spec', 'ingressClassName')),
    hostsCell(rules),
    [...new Set(balanced.filter((each) => each !== ''))].sort().join(','),
    objectsAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80',
  ];
});

/** Rules without a host are for all, but counted. */
function hostsCell(rules: readonly JsonObject[]): string {
  const hosts: string[] = [];
  let hasMore = false;
  for (const rule of rules) {
    if (hosts.length === SHOWN_MAX) hasMore = true;
    const host = textAt(rule, 'host');
    if (!hasMore && host !== '') hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return hasMore ? `${hosts.join(',')} + ${rules.length - SHOWN_MAX} more...` : hosts.join(',');
}

const isDefault = (object: JsonObject, ...annotations: readonly string[]): boolean =>
  annotations.some((key) => textAt(object, 'metadata', 'annotations', key) === 'true');

export const named = (object: JsonObject, ...annotations: readonly string[]): string =>
  `${textAt(object, 'metadata', 'name')}${isDefault(object, ...annotations) ? ' (default)' : ''}`;

const INGRESS_CLASS = simple('Name:name Controller Parameters Age', (object) => {
  const parameters = at(object, 'spec', 'parameters');
  const group = textAt(parameters, 'apiGroup');
  return [
    textAt(object, 'spec', 'controller'),
    parameters === undefined
      ? '<none>'
      : `${textAt(parameters, 'kind')}${group === '' ? '' : `.${group}`}/${textAt(parameters, 'name')}`,
  ];
});

/** The default one says so beside its name. */
export const INGRESS_CLASS_PRINTER: TablePrinter = {
  ...INGRESS_CLASS,
  row: (object, nowMs) => {
    const [, ...cells] = INGRESS_CLASS.row(object, nowMs).cells;
    return { cells: [named(object, 'ingressclass.kubernetes.io/is-default-class'), ...cells] };
  },
};

const IP_ADDRESS = simple('Name:name ParentRef Age', (object) => {
  const parent = at(object, 'spec', 'parentRef');
  if (parent === undefined) return ['<none>'];
  const group = textAt(parent, 'group');
  const resource = `${textAt(parent, 'resource')}${group === '' ? '' : `.${group}`}`.toLowerCase();
  const namespace = textAt(parent, 'namespace');
  return [`${resource}${namespace === '' ? '' : `/${namespace}`}/${textAt(parent, 'name')}`];
});

/** kube-apiserver writes the age, but no column for it. */
export const IP_ADDRESS_PRINTER: TablePrinter = { ...IP_ADDRESS, columns: IP_ADDRESS.columns.slice(0, 2) };

export const SERVICE_CIDR_PRINTER = simple('Name:name CIDRs Age', (object) => [
  textsAt(object, 'spec', 'cidrs').join(','),
]);
