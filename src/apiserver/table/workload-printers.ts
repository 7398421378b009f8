import type { JsonObject } from '../../kube/json.js';
import {
  at,
  containerCells,
  hasCondition,
  labelsCell,
  numberAt,
  objectsAt,
  orNone,
  type PrinterTable,
  printer,
  selectorCell,
  textAt,
} from './cells.js';
import { ageOf, humanDuration } from './human-duration.js';

const podSpec = (object: JsonObject) => at(object, 'spec', 'template', 'spec');
const readyCell = (object: JsonObject): string =>
  `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`;

const COUNTED = 'Name:name Desired:integer Current:integer Ready:integer Age Containers* Images* Selector*';
const replicaCells = (object: JsonObject): (string | number)[] => [
  numberAt(object, 'spec', 'replicas'),
  numberAt(object, 'status', 'replicas'),
  numberAt(object, 'status', 'readyReplicas'),
  ...containerCells(podSpec(object)),
];

function jobStatus(job: JsonObject): string {
  if (hasCondition(job, 'Complete')) return 'Complete';
  if (hasCondition(job, 'Failed')) return 'Failed';
  if (at(job, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(job, type)) ?? 'Running';
}

function jobCompletions(job: JsonObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded');
  const completions = at(job, 'spec', 'completions');
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  const parallelism = numberAt(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: JsonObject, nowMs: number): string {
  const startMs = Date.parse(textAt(job, 'status', 'startTime'));
  if (Number.isNaN(startMs)) return '';
  const endMs = Date.parse(textAt(job, 'status', 'completionTime'));
  return humanDuration((Number.isNaN(endMs) ? nowMs : endMs) - startMs);
}

export const WORKLOAD_PRINTERS: PrinterTable = {
  'apps/deployments': printer('Name:name Ready Up-to-date Available Age Containers* Images* Selector*', (object) => [
    readyCell(object),
    numberAt(object, 'status', 'updatedReplicas'),
    numberAt(object, 'status', 'availableReplicas'),
    ...containerCells(podSpec(object)),
    selectorCell(at(object, 'spec', 'selector')),
  ]),
  'apps/replicasets': printer(COUNTED, (object) => [
    ...replicaCells(object),
    selectorCell(at(object, 'spec', 'selector')),
  ]),
  '/replicationcontrollers': printer(COUNTED, (object) => [
    ...replicaCells(object),
    labelsCell(at(object, 'spec', 'selector')),
  ]),
  'apps/statefulsets': printer('Name:name Ready Age Containers* Images*', (object) => [
    readyCell(object),
    ...containerCells(podSpec(object)),
  ]),
  'apps/daemonsets': printer(
    'Name:name Desired:integer Current:integer Ready:integer Up-to-date:integer Available:integer Node_Selector Age Containers* Images* Selector*',
    (object) => [
      numberAt(object, 'status', 'desiredNumberScheduled'),
      numberAt(object, 'status', 'currentNumberScheduled'),
      numberAt(object, 'status', 'numberReady'),
      numberAt(object, 'status', 'updatedNumberScheduled'),
      numberAt(object, 'status', 'numberAvailable'),
      labelsCell(at(podSpec(object), 'nodeSelector')),
      ...containerCells(podSpec(object)),
      selectorCell(at(object, 'spec', 'selector')),
    ],
  ),
  'apps/controllerrevisions': printer('Name:name Controller Revision Age', (object) => {
    const owner = objectsAt(object, 'metadata', 'ownerReferences').find((each) => each['controller'] === true);
    const [group, version] = textAt(owner, 'apiVersion').split('/');
    const kind = `${textAt(owner, 'kind')}${version === undefined ? '' : `.${group}`}`.toLowerCase();
    return [owner === undefined ? '<none>' : `${kind}/${textAt(owner, 'name')}`, numberAt(object, 'revision')];
  }),
  'batch/jobs': printer('Name:name Status Completions Duration Age Containers* Images* Selector*', (object, nowMs) => [
    jobStatus(object),
    jobCompletions(object),
    jobDuration(object, nowMs),
    ...containerCells(podSpec(object)),
    selectorCell(at(object, 'spec', 'selector')),
  ]),
  'batch/cronjobs': printer(
    'Name:name Schedule Timezone Suspend:boolean Active:integer Last_Schedule Age Containers* Images* Selector*',
    (object, nowMs) => {
      const suspend = at(object, 'spec', 'suspend');
      const last = at(object, 'status', 'lastScheduleTime');
      return [
        textAt(object, 'spec', 'schedule'),
        orNone(textAt(object, 'spec', 'timeZone')),
        typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : '<unset>',
        objectsAt(object, 'status', 'active').length,
        last === undefined ? '<none>' : ageOf(last, nowMs),
        ...containerCells(at(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec')),
        selectorCell(at(object, 'spec', 'jobTemplate', 'spec', 'selector')),
      ];
    },
  ),
  '/podtemplates': printer('Name:name Containers Images Pod_Labels', (object) => [
    ...containerCells(at(object, 'template', 'spec')),
    labelsCell(at(object, 'template', 'metadata', 'labels')),
  ]),
};
