import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import {
  at,
  balancerAddresses,
  findCondition,
  joined,
  labelsCell,
  numberAt,
  objectsAt,
  orNone,
  type PrinterTable,
  printer,
  sizeAt,
  textAt,
  textsAt,
} from './cells.js';
import { ageOf } from './human-duration.js';

function portText(port: JsonObject): string {
  const nodePort = numberAt(port, 'nodePort');
  return `${numberAt(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
}

function externalAddress(service: JsonObject): string {
  const external = textsAt(service, 'spec', 'externalIPs');
  switch (textAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(external.join(','));
    case 'LoadBalancer':
      return [...balancerAddresses(service), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
}

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
  const address = objectsAt(node, 'status', 'addresses').find((each) => each['type'] === type);
  return orNone(textAt(address, 'address'));
}

/** Events of both groups, whose fields have different names. */
const EVENT_PRINTER = printer(
  'Last_Seen Type Reason Object Subobject* Source* Message First_Seen* Count* Name:name*',
  (object, nowMs) => {
    // Times that are not set are written as null.
    const either = (...names: readonly string[]): Json | undefined =>
      names.map((name) => at(object, name) ?? undefined).find((each) => each !== undefined);
    const involved = either('involvedObject', 'regarding');
    const first = ageOf(either('firstTimestamp', 'deprecatedFirstTimestamp') ?? at(object, 'eventTime'), nowMs);
    const last = either('lastTimestamp', 'deprecatedLastTimestamp');
    const lastSeen = last === undefined ? first : ageOf(last, nowMs);
    const series = at(object, 'series');
    const isSeries = isObject(series);
    const kind = textAt(involved, 'kind').toLowerCase();
    const name = textAt(involved, 'name');
    return [
      isSeries ? ageOf(at(series, 'lastObservedTime'), nowMs) : lastSeen,
      textAt(object, 'type'),
      textAt(object, 'reason'),
      name === '' ? kind : `${kind}/${name}`,
      textAt(involved, 'fieldPath'),
      eventSource(object),
      (textAt(object, 'message') || textAt(object, 'note')).trim(),
      first,
      isSeries ? numberAt(series, 'count') : numberAt(object, 'count') || numberAt(object, 'deprecatedCount') || 1,
    ];
  },
);

function eventSource(event: JsonObject): string {
  const source = at(event, 'source') ?? at(event, 'deprecatedSource');
  const component =
    textAt(source, 'component') || textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

const WEBHOOK_PRINTER = printer('Name:name Webhooks:integer Age', (object) => [objectsAt(object, 'webhooks').length]);

export const CORE_PRINTERS: PrinterTable = {
  '/configmaps': printer('Name:name Data Age', (object) => [sizeAt(object, 'data') + sizeAt(object, 'binaryData')]),
  '/secrets': printer('Name:name Type Data Age', (object) => [textAt(object, 'type'), sizeAt(object, 'data')]),
  '/namespaces': printer('Name:name Status Age', (object) => [textAt(object, 'status', 'phase')]),
  '/serviceaccounts': printer('Name:name Age', () => []),
  '/services': printer('Name:name Type Cluster-IP External-IP Port(s) Age Selector*', (object) => [
    textAt(object, 'spec', 'type'),
    textsAt(object, 'spec', 'clusterIPs')[0] ?? '<none>',
    externalAddress(object),
    orNone(objectsAt(object, 'spec', 'ports').map(portText).join(',')),
    labelsCell(at(object, 'spec', 'selector')),
  ]),
  '/nodes': printer(
    'Name:name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*',
    (object) => {
      const info = at(object, 'status', 'nodeInfo');
      const architecture = textAt(info, 'architecture');
      const kernel = textAt(info, 'kernelVersion') || '<unknown>';
      return [
        nodeStatus(object),
        orNone(nodeRoles(object).join(',')),
        textAt(info, 'kubeletVersion'),
        nodeAddress(object, 'InternalIP'),
        nodeAddress(object, 'ExternalIP'),
        textAt(info, 'osImage') || '<unknown>',
        architecture === '' ? kernel : `${kernel} (${architecture})`,
        textAt(info, 'containerRuntimeVersion') || '<unknown>',
      ];
    },
  ),
  '/events': EVENT_PRINTER,
  'events.k8s.io/events': EVENT_PRINTER,
  'coordination.k8s.io/leases': printer('Name:name Holder Age', (object) => [textAt(object, 'spec', 'holderIdentity')]),
  'scheduling.k8s.io/priorityclasses': printer(
    'Name:name Value:integer Global-Default:boolean Age PreemptionPolicy',
    (object) => [numberAt(object, 'value'), at(object, 'globalDefault') === true, textAt(object, 'preemptionPolicy')],
  ),
  'apiregistration.k8s.io/apiservices': printer('Name:name Service Available Age', (object) => {
    const service = at(object, 'spec', 'service');
    const available = findCondition(object, 'Available');
    const status = textAt(available, 'status') || 'Unknown';
    return [
      service === undefined ? 'Local' : joined(service, 'namespace'),
      status === 'True' || available === undefined ? status : `${status} (${textAt(available, 'reason')})`,
    ];
  }),
  'admissionregistration.k8s.io/validatingwebhookconfigurations': WEBHOOK_PRINTER,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': WEBHOOK_PRINTER,
};
