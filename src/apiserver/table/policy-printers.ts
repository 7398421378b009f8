import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { at, columns, containerCells, labelsCell, numberAt, objectsAt, orNone, textAt } from './cells.js';
import { ageCell, nameOf, simple } from './core-printers.js';
import { humanDuration } from './human-duration.js';
import type { TablePrinter } from './table.js';

const METRICS_MAX = 2;
const UNKNOWN = '<unknown>';

const subjectsCell = (object: JsonObject, kind: string): string =>
  objectsAt(object, 'subjects')
    .filter((each) => each['kind'] === kind)
    .map((each) =>
      kind === 'ServiceAccount' ? `${textAt(each, 'namespace')}/${textAt(each, 'name')}` : textAt(each, 'name'),
    )
    .join(', ');

export const ROLE_BINDING_PRINTER: TablePrinter = {
  columns: columns('Name:name Role Age Users* Groups* ServiceAccounts*'),
  row: (object, nowMs) => ({
    cells: [
      nameOf(object),
      `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`,
      ageCell(object, nowMs),
      subjectsCell(object, 'User'),
      subjectsCell(object, 'Group'),
      subjectsCell(object, 'ServiceAccount'),
    ],
  }),
};

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
  // The old version knows one metric, by two numbers.
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

export const HORIZONTAL_POD_AUTOSCALER_PRINTER = simple(
  'Name:name Reference Targets MinPods MaxPods Replicas Age',
  (object) => [
    `${textAt(object, 'spec', 'scaleTargetRef', 'kind')}/${textAt(object, 'spec', 'scaleTargetRef', 'name')}`,
    metricsCell(object),
    String(at(object, 'spec', 'minReplicas') ?? '<unset>'),
    numberAt(object, 'spec', 'maxReplicas'),
    numberAt(object, 'status', 'currentReplicas'),
  ],
);

export const POD_DISRUPTION_BUDGET_PRINTER = simple(
  'Name:name Min_Available Max_Unavailable Allowed_Disruptions:integer Age',
  (object) => [
    String(at(object, 'spec', 'minAvailable') ?? 'N/A'),
    String(at(object, 'spec', 'maxUnavailable') ?? 'N/A'),
    numberAt(object, 'status', 'disruptionsAllowed'),
  ],
);

export const RESOURCE_QUOTA_PRINTER = simple('Name:name Request Limit Age', (object) => {
  const hard = at(object, 'status', 'hard');
  const names = Object.keys(isObject(hard) ? hard : {}).sort();
  const cell = (name: string): string =>
    `${name}: ${textAt(object, 'status', 'used', name) || '0'}/${textAt(object, 'status', 'hard', name)}`;
  const isLimit = (name: string): boolean => name.startsWith('limits.');
  return [
    names
      .filter((name) => !isLimit(name))
      .map(cell)
      .join(', '),
    names.filter(isLimit).map(cell).join(', '),
  ];
});

export const CONTROLLER_REVISION_PRINTER = simple('Name:name Controller Revision Age', (object) => {
  const owner = objectsAt(object, 'metadata', 'ownerReferences').find((each) => each['controller'] === true);
  const [group] = textAt(owner, 'apiVersion').split('/');
  const kind = `${textAt(owner, 'kind')}${textAt(owner, 'apiVersion').includes('/') ? `.${group}` : ''}`.toLowerCase();
  return [owner === undefined ? '<none>' : `${kind}/${textAt(owner, 'name')}`, numberAt(object, 'revision')];
});

export const POD_TEMPLATE_PRINTER: TablePrinter = {
  columns: columns('Name:name Containers Images Pod_Labels'),
  row: (object) => ({
    cells: [
      nameOf(object),
      ...containerCells(at(object, 'template', 'spec')),
      labelsCell(at(object, 'template', 'metadata', 'labels')),
    ],
  }),
};

export const CERTIFICATE_SIGNING_REQUEST_PRINTER: TablePrinter = {
  columns: columns('Name:name Age SignerName Requestor RequestedDuration Condition'),
  row: (object, nowMs) => {
    const seconds = at(object, 'spec', 'expirationSeconds');
    return {
      cells: [
        nameOf(object),
        ageCell(object, nowMs),
        orNone(textAt(object, 'spec', 'signerName')),
        textAt(object, 'spec', 'username'),
        typeof seconds === 'number' ? humanDuration(seconds * 1_000) : '<none>',
        requestCondition(object),
      ],
    };
  },
};

function requestCondition(object: JsonObject): string {
  const types = new Set(objectsAt(object, 'status', 'conditions').map((each) => each['type']));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const issued = textAt(object, 'status', 'certificate') === '' ? '' : ',Issued';
  return `${decision}${types.has('Failed') ? ',Failed' : ''}${issued}`;
}

export const RUNTIME_CLASS_PRINTER = simple('Name:name Handler Age', (object) => [textAt(object, 'handler')]);

const precedence = (object: JsonObject): number => numberAt(object, 'spec', 'matchingPrecedence');

export const FLOW_SCHEMA_PRINTER: TablePrinter = {
  // In the order in which they are tried.
  compare: (left, right) => precedence(left) - precedence(right) || (nameOf(left) < nameOf(right) ? -1 : 1),
  columns: columns('Name:name PriorityLevel MatchingPrecedence DistinguisherMethod Age MissingPL'),
  row: (object, nowMs) => {
    const dangling = objectsAt(object, 'status', 'conditions').find((each) => each['type'] === 'Dangling');
    return {
      cells: [
        nameOf(object),
        textAt(object, 'spec', 'priorityLevelConfiguration', 'name'),
        numberAt(object, 'spec', 'matchingPrecedence'),
        orNone(textAt(object, 'spec', 'distinguisherMethod', 'type')),
        ageCell(object, nowMs),
        dangling === undefined ? '?' : textAt(dangling, 'status'),
      ],
    };
  },
};

export const PRIORITY_LEVEL_PRINTER = simple(
  'Name:name Type NominalConcurrencyShares Queues HandSize QueueLengthLimit Age',
  (object) => {
    const limited = at(object, 'spec', 'limited');
    const queuing = at(limited, 'limitResponse', 'queuing');
    const cell = (value: Json | undefined): Json => value ?? '<none>';
    return [
      textAt(object, 'spec', 'type'),
      cell(at(limited, 'nominalConcurrencyShares')),
      cell(at(queuing, 'queues')),
      cell(at(queuing, 'handSize')),
      cell(at(queuing, 'queueLengthLimit')),
    ];
  },
);

const policyPrinter = (column: string, member: string): TablePrinter =>
  simple(`Name:name ${column}:integer ParamKind Age`, (object) => {
    const kind = at(object, 'spec', 'paramKind');
    return [
      objectsAt(object, 'spec', member).length,
      kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`,
    ];
  });

export const VALIDATING_POLICY_PRINTER = policyPrinter('Validations', 'validations');
export const MUTATING_POLICY_PRINTER = policyPrinter('Mutations', 'mutations');

export const POLICY_BINDING_PRINTER = simple('Name:name PolicyName ParamRef Age', (object) => {
  const name = textAt(object, 'spec', 'paramRef', 'name');
  return [
    textAt(object, 'spec', 'policyName'),
    name === '' ? '<unset>' : `${textAt(object, 'spec', 'paramRef', 'namespace') || '*'}/${name}`,
  ];
});

export const RESOURCE_CLAIM_PRINTER = simple('Name:name State Age', (object) => {
  const isDeleted = at(object, 'metadata', 'deletionTimestamp') !== undefined;
  const isAllocated = at(object, 'status', 'allocation') !== undefined;
  const states = [
    ...(isDeleted ? ['deleted'] : []),
    ...(isAllocated ? ['allocated'] : isDeleted ? [] : ['pending']),
    ...(isAllocated && objectsAt(object, 'status', 'reservedFor').length > 0 ? ['reserved'] : []),
  ];
  return [states.join(',')];
});

export const RESOURCE_SLICE_PRINTER = simple('Name:name Node Driver Pool Age', (object) => [
  textAt(object, 'spec', 'nodeName'),
  textAt(object, 'spec', 'driver'),
  textAt(object, 'spec', 'pool', 'name'),
]);

export const LEASE_CANDIDATE_PRINTER = simple('Name:name LeaseName BinaryVersion EmulationVersion Age', (object) => [
  textAt(object, 'spec', 'leaseName'),
  textAt(object, 'spec', 'binaryVersion'),
  textAt(object, 'spec', 'emulationVersion'),
]);
