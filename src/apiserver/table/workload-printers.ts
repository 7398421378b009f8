import type { JsonObject } from '../../kube/json.js';
import {
  at,
  columns,
  containerCells,
  hasCondition,
  labelsCell,
  numberAt,
  objectsAt,
  selectorCell,
  textAt,
} from './cells.js';
import { ageOf, humanDuration } from './human-duration.js';
import type { TablePrinter } from './table.js';

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name');
const ageCell = (object: JsonObject, nowMs: number): string =>
  ageOf(at(object, 'metadata', 'creationTimestamp'), nowMs);
const podSpec = (object: JsonObject) => at(object, 'spec', 'template', 'spec');

export const DEPLOYMENT_PRINTER: TablePrinter = {
  columns: columns('Name:name Ready Up-to-date Available Age Containers* Images* Selector*'),
  row: (object, nowMs) => ({
    cells: [
      nameOf(object),
      `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`,
      numberAt(object, 'status', 'updatedReplicas'),
      numberAt(object, 'status', 'availableReplicas'),
      ageCell(object, nowMs),
      ...containerCells(podSpec(object)),
      selectorCell(at(object, 'spec', 'selector')),
    ],
  }),
};

const COUNTED = columns('Name:name Desired:integer Current:integer Ready:integer Age Containers* Images* Selector*');

export const REPLICA_SET_PRINTER: TablePrinter = {
  columns: COUNTED,
  row: (object, nowMs) => ({
    cells: [...replicaCells(object, nowMs), selectorCell(at(object, 'spec', 'selector'))],
  }),
};

export const REPLICATION_CONTROLLER_PRINTER: TablePrinter = {
  columns: COUNTED,
  row: (object, nowMs) => ({ cells: [...replicaCells(object, nowMs), labelsCell(at(object, 'spec', 'selector'))] }),
};

function replicaCells(object: JsonObject, nowMs: number): (string | number)[] {
  return [
    nameOf(object),
    numberAt(object, 'spec', 'replicas'),
    numberAt(object, 'status', 'replicas'),
    numberAt(object, 'status', 'readyReplicas'),
    ageCell(object, nowMs),
    ...containerCells(podSpec(object)),
  ];
}

export const STATEFUL_SET_PRINTER: TablePrinter = {
  columns: columns('Name:name Ready Age Containers* Images*'),
  row: (object, nowMs) => ({
    cells: [
      nameOf(object),
      `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`,
      ageCell(object, nowMs),
      ...containerCells(podSpec(object)),
    ],
  }),
};

export const DAEMON_SET_PRINTER: TablePrinter = {
  columns: columns(
    'Name:name Desired:integer Current:integer Ready:integer Up-to-date:integer Available:integer Node_Selector Age Containers* Images* Selector*',
  ),
  row: (object, nowMs) => ({
    cells: [
      nameOf(object),
      numberAt(object, 'status', 'desiredNumberScheduled'),
      numberAt(object, 'status', 'currentNumberScheduled'),
      numberAt(object, 'status', 'numberReady'),
      numberAt(object, 'status', 'updatedNumberScheduled'),
      numberAt(object, 'status', 'numberAvailable'),
      labelsCell(at(podSpec(object), 'nodeSelector')),
      ageCell(object, nowMs),
      ...containerCells(podSpec(object)),
      selectorCell(at(object, 'spec', 'selector')),
    ],
  }),
};

export const JOB_PRINTER: TablePrinter = {
  columns: columns('Name:name Status Completions Duration Age Containers* Images* Selector*'),
  row: (object, nowMs) => ({
    cells: [
      nameOf(object),
      jobStatus(object),
      jobCompletions(object),
      jobDuration(object, nowMs),
      ageCell(object, nowMs),
      ...containerCells(podSpec(object)),
      selectorCell(at(object, 'spec', 'selector')),
    ],
  }),
};

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

export const CRON_JOB_PRINTER: TablePrinter = {
  columns: columns(
    'Name:name Schedule Timezone Suspend:boolean Active:integer Last_Schedule Age Containers* Images* Selector*',
  ),
  row: (object, nowMs) => {
    const suspend = at(object, 'spec', 'suspend');
    const last = at(object, 'status', 'lastScheduleTime');
    return {
      cells: [
        nameOf(object),
        textAt(object, 'spec', 'schedule'),
        textAt(object, 'spec', 'timeZone') || '<none>',
        typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : '<unset>',
        objectsAt(object, 'status', 'active').length,
        last === undefined ? '<none>' : ageOf(last, nowMs),
        ageCell(object, nowMs),
        ...containerCells(at(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec')),
        selectorCell(at(object, 'spec', 'jobTemplate', 'spec', 'selector')),
      ],
    };
  },
};
