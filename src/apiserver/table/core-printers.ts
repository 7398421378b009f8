import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { at, columns, labelsCell, numberAt, objectsAt, orNone, selectorCell, sizeAt, textAt } from './cells.js';
import { ageOf } from './human-duration.js';
import type { TablePrinter } from './table.js';

export const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name');
export const ageCell = (object: JsonObject, nowMs: number): string =>
  ageOf(at(object, 'metadata', 'creationTimestamp'), nowMs);

/** A printer whose cells are the name, something, and the age. */
export function simple(text: string, between: (object: JsonObject) => Json[]): TablePrinter {
  return {
    columns: columns(text),
    row: (object, nowMs) => ({ cells: [nameOf(object), ...between(object), ageCell(object, nowMs)] }),
  };
}

export const CONFIG_MAP_PRINTER = simple('Name:name Data Age', (object) => [
  sizeAt(object, 'data') + sizeAt(object, 'binaryData'),
]);

export const SECRET_PRINTER = simple('Name:name Type Data Age', (object) => [
  textAt(object, 'type'),
  sizeAt(object, 'data'),
]);

export const NAMESPACE_PRINTER = simple('Name:name Status Age', (object) => [textAt(object, 'status', 'phase')]);

export const SERVICE_ACCOUNT_PRINTER = simple('Name:name Age', () => []);

export const LEASE_PRINTER = simple('Name:name Holder Age', (object) => [textAt(object, 'spec', 'holderIdentity')]);

export const WEBHOOK_PRINTER = simple('Name:name Webhooks:integer Age', (object) => [
  objectsAt(object, 'webhooks').length,
]);

export const NETWORK_POLICY_PRINTER = simple('Name:name Pod-Selector Age', (object) => [
  selectorCell(at(object, 'spec', 'podSelector')),
]);

export const API_SERVICE_PRINTER = simple('Name:name Service Available Age', (object) => {
  const service = at(object, 'spec', 'service');
  const available = objectsAt(object, 'status', 'conditions').find((each) => each['type'] === 'Available');
  const status = textAt(available, 'status') || 'Unknown';
  return [
    service === undefined ? 'Local' : `${textAt(service, 'namespace')}/${textAt(service, 'name')}`,
    status === 'True' || available === undefined ? status : `${status} (${textAt(available, 'reason')})`,
  ];
});

export const PRIORITY_CLASS_PRINTER: TablePrinter = {
  columns: columns('Name:name Value:integer Global-Default:boolean Age PreemptionPolicy'),
  row: (object, nowMs) => ({
    cells: [
      nameOf(object),
      numberAt(object, 'value'),
      at(object, 'globalDefault') === true,
      ageCell(object, nowMs),
      textAt(object, 'preemptionPolicy'),
    ],
  }),
};

export const SERVICE_PRINTER: TablePrinter = {
  columns: columns('Name:name Type Cluster-IP External-IP Port(s) Age Selector*'),
  row: (object, nowMs) => {
    const addresses = at(object, 'spec', 'clusterIPs');
    return {
      cells: [
        nameOf(object),
        textAt(object, 'spec', 'type'),
        Array.isArray(addresses) && addresses.length > 0 ? String(addresses[0]) : '<none>',
        externalAddress(object),
        orNone(objectsAt(object, 'spec', 'ports').map(portText).join(',')),
        ageCell(object, nowMs),
        labelsCell(at(object, 'spec', 'selector')),
      ],
    };
  },
};

function portText(port: JsonObject): string {
  const nodePort = numberAt(port, 'nodePort');
  return `${numberAt(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
}

function externalAddress(service: JsonObject): string {
  const listed = at(service, 'spec', 'externalIPs');
  const external = Array.isArray(listed) ? listed.map(String) : [];
  switch (textAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(external.join(','));
    case 'LoadBalancer': {
      const ingress = objectsAt(service, 'status', 'loadBalancer', 'ingress');
      const balanced = [...new Set(ingress.map((each) => textAt(each, 'ip') || textAt(each, 'hostname')))].sort();
      return [...balanced.filter((each) => each !== ''), ...external].join(',') || '<pending>';
    }
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
}

export const NODE_PRINTER: TablePrinter = {
  columns: columns(
    'Name:name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*',
  ),
  row: (object, nowMs) => {
    const info = at(object, 'status', 'nodeInfo');
    const architecture = textAt(info, 'architecture');
    const kernel = textAt(info, 'kernelVersion') || '<unknown>';
    return {
      cells: [
        nameOf(object),
        nodeStatus(object),
        orNone(nodeRoles(object).join(',')),
        ageCell(object, nowMs),
        textAt(info, 'kubeletVersion'),
        nodeAddress(object, 'InternalIP'),
        nodeAddress(object, 'ExternalIP'),
        textAt(info, 'osImage') || '<unknown>',
        architecture === '' ? kernel : `${kernel} (${architecture})`,
        textAt(info, 'containerRuntimeVersion') || '<unknown>',
      ],
    };
  },
};

function nodeStatus(node: JsonObject): string {
  const ready = objectsAt(node, 'status', 'conditions').findLast((each) => each['type'] === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: JsonObject): string[] {
  const labels = at(node, 'metadata', 'labels');
  const roles = Object.entries(isObject(labels) ? labels : {}).flatMap(([key, value]) => {
    if (key.startsWith('node-role.kubernetes.io/')) return [key.slice('node-role.kubernetes.io/'.length)];
    return key === 'kubernetes.io/role' ? [String(value)] : [];
  });
  return [...new Set(roles.filter((role) => role !== ''))].sort();
}

function nodeAddress(node: JsonObject, type: string): string {
  return orNone(
    textAt(
      objectsAt(node, 'status', 'addresses').find((each) => each['type'] === type),
      'address',
    ),
  );
}

/** Both Event kinds, whose fields have different names. */
export const EVENT_PRINTER: TablePrinter = {
  columns: columns('Last_Seen Type Reason Object Subobject* Source* Message First_Seen* Count* Name:name*'),
  row: (object, nowMs) => {
    // Times that are not set are written as null.
    const either = (...names: readonly string[]): Json | undefined =>
      names.map((name) => at(object, name) ?? undefined).find((each) => each !== undefined);
    const involved = either('involvedObject', 'regarding');
    const first = ageOf(either('firstTimestamp', 'deprecatedFirstTimestamp') ?? at(object, 'eventTime'), nowMs);
    const lastSeen = either('lastTimestamp', 'deprecatedLastTimestamp');
    const series = at(object, 'series');
    const isSeries = isObject(series);
    const kind = textAt(involved, 'kind').toLowerCase();
    const name = textAt(involved, 'name');
    return {
      cells: [
        isSeries
          ? ageOf(at(series, 'lastObservedTime'), nowMs)
          : lastSeen === undefined
            ? first
            : ageOf(lastSeen, nowMs),
        textAt(object, 'type'),
        textAt(object, 'reason'),
        name === '' ? kind : `${kind}/${name}`,
        textAt(involved, 'fieldPath'),
        eventSource(object),
        (textAt(object, 'message') || textAt(object, 'note')).trim(),
        first,
        isSeries ? numberAt(series, 'count') : numberAt(object, 'count') || numberAt(object, 'deprecatedCount') || 1,
        nameOf(object),
      ],
    };
  },
};

function eventSource(event: JsonObject): string {
  const source = at(event, 'source') ?? at(event, 'deprecatedSource');
  const component =
    textAt(source, 'component') || textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}
