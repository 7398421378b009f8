import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import {
  at,
  findCondition,
  joined,
  nameOf,
  numberAt,
  objectsAt,
  orNone,
  type PrinterTable,
  printer,
  textAt,
} from './cells.js';
import { humanDuration } from './human-duration.js';
import type { TablePrinter } from './table.js';

const METRICS_MAX = 2;
const UNKNOWN = '<unknown>';

const subjectsCell = (object: JsonObject, kind: string): string =>
  objectsAt(object, 'subjects')
    .filter((each) => each['kind'] === kind)
    .map((each) => (kind === 'ServiceAccount' ? joined(each, 'namespace') : textAt(each, 'name')))
    .join(', ');

const ROLE_BINDING_PRINTER = printer('Name:name Role Age Users* Groups* ServiceAccounts*', (object) => [
  joined(at(object, 'roleRef'), 'kind'),
  subjectsCell(object, 'User'),
  subjectsCell(object, 'Group'),
  subjectsCell(object, 'ServiceAccount'),
]);

/** One metric as `current/target`. */
function metricCell(spec: JsonObject, status: JsonObject | undefined): string {
  const type = textAt(spec, 'type');
  const name = type.charAt(0).toLowerCase() + type.slice(1);
  const target = at(spec, name, 'target');
  const current = at(status, name, 'current');
  const amount = (value: Json | undefined): string => (value === undefined ? UNKNOWN : String(value));
  const percent = (value: Json | undefined, none: string): string => (value === undefined ? none : `${value}%`);
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const resource = textAt(spec, name, 'name');
      if (at(target, 'averageValue') !== undefined) {
        return `${resource}: ${amount(at(current, 'averageValue'))}/${at(target, 'averageValue')}`;
      }
      const now = percent(at(current, 'averageUtilization'), UNKNOWN);
      return `${resource}: ${now}/${percent(at(target, 'averageUtilization'), '<auto>')}`;
    }
    case 'Pods':
      return `${amount(at(current, 'averageValue'))}/${at(target, 'averageValue')}`;
    case 'Object':
    case 'External':
      return at(target, 'averageValue') === undefined
        ? `${amount(at(current, 'value'))}/${at(target, 'value')}`
        : `${amount(at(current, 'averageValue'))}/${at(target, 'averageValue')} (avg)`;
    default:
      return '<unknown type>';
  }
}

function metricsCell(object: JsonObject): string {
  // autoscaling/v1 has two numbers in place of metrics.
  const percentage = at(object, 'spec', 'targetCPUUtilizationPercentage');
  if (percentage !== undefined) {
    const current = at(object, 'status', 'currentCPUUtilizationPercentage');
    return `cpu: ${current === undefined ? UNKNOWN : `${current}%`}/${percentage}%`;
  }
  const statuses = objectsAt(object, 'status', 'currentMetrics');
  const cells = objectsAt(object, 'spec', 'metrics').map((spec, index) => metricCell(spec, statuses[index]));
  if (cells.length === 0) return '<none>';
  const shown = cells.slice(0, METRICS_MAX).join(', ');
  return cells.length > METRICS_MAX ? `${shown} + ${cells.length - METRICS_MAX} more...` : shown;
}

function requestCondition(object: JsonObject): string {
  const types = new Set(objectsAt(object, 'status', 'conditions').map((each) => each['type']));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const issued = textAt(object, 'status', 'certificate') === '' ? '' : ',Issued';
  return `${decision}${types.has('Failed') ? ',Failed' : ''}${issued}`;
}

const precedence = (object: JsonObject): number => numberAt(object, 'spec', 'matchingPrecedence');

const policyPrinter = (column: string, member: string): TablePrinter =>
  printer(`Name:name ${column}:integer ParamKind Age`, (object) => {
    const kind = at(object, 'spec', 'paramKind');
    return [
      objectsAt(object, 'spec', member).length,
      kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`,
    ];
  });

const POLICY_BINDING_PRINTER = printer('Name:name PolicyName ParamRef Age', (object) => {
  const name = textAt(object, 'spec', 'paramRef', 'name');
  return [
    textAt(object, 'spec', 'policyName'),
    name === '' ? '<unset>' : `${textAt(object, 'spec', 'paramRef', 'namespace') || '*'}/${name}`,
  ];
});

const NAME_AND_AGE = printer('Name:name Age', () => []);

export const POLICY_PRINTERS: PrinterTable = {
  'rbac.authorization.k8s.io/rolebindings': ROLE_BINDING_PRINTER,
  'rbac.authorization.k8s.io/clusterrolebindings': ROLE_BINDING_PRINTER,
  'admissionregistration.k8s.io/validatingadmissionpolicies': policyPrinter('Validations', 'validations'),
  'admissionregistration.k8s.io/mutatingadmissionpolicies': policyPrinter('Mutations', 'mutations'),
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': POLICY_BINDING_PRINTER,
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': POLICY_BINDING_PRINTER,
  'autoscaling/horizontalpodautoscalers': printer(
    'Name:name Reference Targets MinPods MaxPods Replicas Age',
    (object) => [
      joined(at(object, 'spec', 'scaleTargetRef'), 'kind'),
      metricsCell(object),
      String(at(object, 'spec', 'minReplicas') ?? '<unset>'),
      numberAt(object, 'spec', 'maxReplicas'),
      numberAt(object, 'status', 'currentReplicas'),
    ],
  ),
  'policy/poddisruptionbudgets': printer(
    'Name:name Min_Available Max_Unavailable Allowed_Disruptions:integer Age',
    (object) => [
      String(at(object, 'spec', 'minAvailable') ?? 'N/A'),
      String(at(object, 'spec', 'maxUnavailable') ?? 'N/A'),
      numberAt(object, 'status', 'disruptionsAllowed'),
    ],
  ),
  '/resourcequotas': printer('Name:name Request Limit Age', (object) => {
    const hard = at(object, 'status', 'hard');
    const names = Object.keys(isObject(hard) ? hard : {}).sort();
    const cells = (areLimits: boolean): string =>
      names
        .filter((name) => name.startsWith('limits.') === areLimits)
        .map((name) => `${name}: ${textAt(object, 'status', 'used', name) || '0'}/${textAt(hard, name)}`)
        .join(', ');
    return [cells(false), cells(true)];
  }),
  'certificates.k8s.io/certificatesigningrequests': printer(
    'Name:name Age SignerName Requestor RequestedDuration Condition',
    (object) => {
      const seconds = at(object, 'spec', 'expirationSeconds');
      return [
        orNone(textAt(object, 'spec', 'signerName')),
        textAt(object, 'spec', 'username'),
        typeof seconds === 'number' ? humanDuration(seconds * 1_000) : '<none>',
        requestCondition(object),
      ];
    },
  ),
  'node.k8s.io/runtimeclasses': printer('Name:name Handler Age', (object) => [textAt(object, 'handler')]),
  'flowcontrol.apiserver.k8s.io/flowschemas': {
    ...printer('Name:name PriorityLevel MatchingPrecedence DistinguisherMethod Age MissingPL', (object) => {
      const dangling = findCondition(object, 'Dangling');
      return [
        textAt(object, 'spec', 'priorityLevelConfiguration', 'name'),
        precedence(object),
        orNone(textAt(object, 'spec', 'distinguisherMethod', 'type')),
        dangling === undefined ? '?' : textAt(dangling, 'status'),
      ];
    }),
    // Flow schemas are listed in the order in which requests are matched against them.
    compare: (left, right) => precedence(left) - precedence(right) || (nameOf(left) < nameOf(right) ? -1 : 1),
  },
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': printer(
    'Name:name Type NominalConcurrencyShares Queues HandSize QueueLengthLimit Age',
    (object) => {
      const limited = at(object, 'spec', 'limited');
      const queuing = at(limited, 'limitResponse', 'queuing');
      const numbers = [
        at(limited, 'nominalConcurrencyShares'),
        at(queuing, 'queues'),
        at(queuing, 'handSize'),
        at(queuing, 'queueLengthLimit'),
      ];
      return [textAt(object, 'spec', 'type'), ...numbers.map((each) => each ?? '<none>')];
    },
  ),
  'resource.k8s.io/deviceclasses': NAME_AND_AGE,
  'resource.k8s.io/resourceclaimtemplates': NAME_AND_AGE,
  'resource.k8s.io/resourceclaims': printer('Name:name State Age', (object) => {
    const isDeleted = at(object, 'metadata', 'deletionTimestamp') !== undefined;
    const isAllocated = at(object, 'status', 'allocation') !== undefined;
    const states = [
      ...(isDeleted ? ['deleted'] : []),
      ...(isAllocated ? ['allocated'] : isDeleted ? [] : ['pending']),
      ...(isAllocated && objectsAt(object, 'status', 'reservedFor').length > 0 ? ['reserved'] : []),
    ];
    return [states.join(',')];
  }),
  'resource.k8s.io/resourceslices': printer('Name:name Node Driver Pool Age', (object) => [
    textAt(object, 'spec', 'nodeName'),
    textAt(object, 'spec', 'driver'),
    textAt(object, 'spec', 'pool', 'name'),
  ]),
  'coordination.k8s.io/leasecandidates': printer('Name:name LeaseName BinaryVersion EmulationVersion Age', (object) => [
    textAt(object, 'spec', 'leaseName'),
    textAt(object, 'spec', 'binaryVersion'),
    textAt(object, 'spec', 'emulationVersion'),
  ]),
};
