import type { JsonObject } from '../../kube/json.js';
import {
  at,
  balancerAddresses,
  nameAndDefault,
  objectsAt,
  orNone,
  type PrinterTable,
  printer,
  selectorCell,
  textAt,
  textsAt,
} from './cells.js';

const SHOWN_MAX = 3;

/** The first few items, and the number of the others. */
function firstFew(items: readonly string[], none: string): string {
  const shown = items.slice(0, SHOWN_MAX).join(',');
  if (items.length > SHOWN_MAX) return `${shown} + ${items.length - SHOWN_MAX} more...`;
  return shown === '' ? none : shown;
}

function endpointsCell(endpoints: JsonObject): string {
  const subsets = objectsAt(endpoints, 'subsets');
  const places = subsets.flatMap((subset) => {
    const addresses = objectsAt(subset, 'addresses').map((each) => textAt(each, 'ip'));
    const ports = objectsAt(subset, 'ports');
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => `${bracketed(address)}:${at(port, 'port')}`));
  });
  return subsets.length === 0 ? '<none>' : firstFew(places, '');
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Rules without a host are not shown, but counted. */
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

const IP_ADDRESS = printer('Name:name ParentRef Age', (object) => {
  const parent = at(object, 'spec', 'parentRef');
  if (parent === undefined) return ['<none>'];
  const group = textAt(parent, 'group');
  const resource = `${textAt(parent, 'resource')}${group === '' ? '' : `.${group}`}`.toLowerCase();
  const namespace = textAt(parent, 'namespace');
  return [`${resource}${namespace === '' ? '' : `/${namespace}`}/${textAt(parent, 'name')}`];
});

export const NETWORK_PRINTERS: PrinterTable = {
  '/endpoints': printer('Name:name Endpoints Age', (object) => [endpointsCell(object)]),
  'discovery.k8s.io/endpointslices': printer('Name:name AddressType Ports Endpoints Age', (object) => {
    const ports = objectsAt(object, 'ports').map((port) => String(at(port, 'port') ?? at(port, 'name') ?? '*'));
    const addresses = objectsAt(object, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses'));
    return [textAt(object, 'addressType'), firstFew(ports, '<unset>'), firstFew(addresses, '<unset>')];
  }),
  'networking.k8s.io/ingresses': printer('Name:name Class Hosts Address Ports Age', (object) => [
    orNone(textAt(object, 'spec', 'ingressClassName')),
    hostsCell(objectsAt(object, 'spec', 'rules')),
    balancerAddresses(object).join(','),
    objectsAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80',
  ]),
  'networking.k8s.io/ingressclasses': printer(
    'Name:name Controller Parameters Age',
    (object) => {
      const parameters = at(object, 'spec', 'parameters');
      const group = textAt(parameters, 'apiGroup');
      const kind = `${textAt(parameters, 'kind')}${group === '' ? '' : `.${group}`}`;
      return [
        textAt(object, 'spec', 'controller'),
        parameters === undefined ? '<none>' : `${kind}/${textAt(parameters, 'name')}`,
      ];
    },
    nameAndDefault('ingressclass.kubernetes.io/is-default-class'),
  ),
  // kube-apiserver writes the age, but no column for it.
  'networking.k8s.io/ipaddresses': { ...IP_ADDRESS, columns: IP_ADDRESS.columns.slice(0, 2) },
  'networking.k8s.io/networkpolicies': printer('Name:name Pod-Selector Age', (object) => [
    selectorCell(at(object, 'spec', 'podSelector')),
  ]),
  'networking.k8s.io/servicecidrs': printer('Name:name CIDRs Age', (object) => [
    textsAt(object, 'spec', 'cidrs').join(','),
  ]),
};
