import type { JsonObject } from '../../kube/json.js';
import { at, hasCondition, numberAt, objectsAt, orNone, printer, textAt } from './cells.js';
import { ageOf } from './human-duration.js';
import type { TablePrinter } from './table.js';

/** Set by the node lifecycle controller on pods of a node that is gone. */
const NODE_LOST = 'NodeLost';

const CELLS = printer(
  'Name:name Ready Status Restarts Age IP* Node* Nominated_Node* Readiness_Gates*',
  (pod, nowMs) => {
    const { ready, total, reason, restarts, restartedAt } = podState(pod);
    const ago = restarts !== 0 && restartedAt !== '' ? ` (${ageOf(restartedAt, nowMs)} ago)` : '';
    return [
      `${ready}/${total}`,
      reason,
      `${restarts}${ago}`,
      orNone(textAt(objectsAt(pod, 'status', 'podIPs')[0], 'ip')),
      orNone(textAt(pod, 'spec', 'nodeName')),
      orNone(textAt(pod, 'status', 'nominatedNodeName')),
      readinessGates(pod),
    ];
  },
);

export const POD_PRINTER: TablePrinter = {
  columns: CELLS.columns,
  row: (pod, nowMs) => {
    const row = CELLS.row(pod, nowMs);
    const phase = textAt(pod, 'status', 'phase');
    if (phase !== 'Succeeded' && phase !== 'Failed') return row;
    return { ...row, conditions: [{ type: 'Completed', status: 'True', reason: phase }] };
  },
};

interface PodState {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  restartedAt: string;
}

function podState(pod: JsonObject): PodState {
  const sidecars = new Set(
    objectsAt(pod, 'spec', 'initContainers')
      .filter((each) => each['restartPolicy'] === 'Always')
      .map((each) => textAt(each, 'name')),
  );
  const state: PodState = {
    ready: 0,
    total: objectsAt(pod, 'spec', 'containers').length + sidecars.size,
    reason: startingReason(pod),
    restarts: 0,
    restartedAt: '',
  };
  const ofSidecars: PodState = { ...state };
  const isInitializing = readInitContainers(pod, sidecars, { state, ofSidecars });
  if (!isInitializing || hasCondition(pod, 'Initialized')) {
    state.restarts = ofSidecars.restarts;
    state.restartedAt = ofSidecars.restartedAt;
    readContainers(pod, state);
  }
  if (at(pod, 'metadata', 'deletionTimestamp') !== undefined) {
    const phase = textAt(pod, 'status', 'phase');
    if (textAt(pod, 'status', 'reason') === NODE_LOST) state.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') state.reason = 'Terminating';
  }
  return state;
}

function startingReason(pod: JsonObject): string {
  const gated = objectsAt(pod, 'status', 'conditions').some(
    (each) => each['type'] === 'PodScheduled' && each['reason'] === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
}

/** Whether the pod still waits for an init container, which then sets the reason. */
function readInitContainers(
  pod: JsonObject,
  sidecars: ReadonlySet<string>,
  { state, ofSidecars }: { state: PodState; ofSidecars: PodState },
): boolean {
  const count = objectsAt(pod, 'spec', 'initContainers').length;
  for (const [index, status] of objectsAt(pod, 'status', 'initContainerStatuses').entries()) {
    const isSidecar = sidecars.has(textAt(status, 'name'));
    addRestarts(state, status);
    if (isSidecar) addRestarts(ofSidecars, status);
    const terminated = at(status, 'state', 'terminated');
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue;
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) state.ready++;
      continue;
    }
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    if (terminated !== undefined) state.reason = `Init:${terminatedReason(status)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') state.reason = `Init:${waiting}`;
    else state.reason = `Init:${index}/${count}`;
    return true;
  }
  return false;
}

function readContainers(pod: JsonObject, state: PodState): void {
  let isRunning = false;
  let failure = '';
  for (const status of objectsAt(pod, 'status', 'containerStatuses').reverse()) {
    addRestarts(state, status);
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const terminated = at(status, 'state', 'terminated');
    if (waiting !== '') {
      state.reason = waiting;
    } else if (terminated !== undefined) {
      state.reason = terminatedReason(status);
      if (numberAt(terminated, 'exitCode') !== 0) failure = state.reason;
    } else if (status['ready'] === true && at(status, 'state', 'running') !== undefined) {
      isRunning = true;
      state.ready++;
    }
  }
  // One container that ended does not end the pod.
  if (state.reason !== 'Completed') return;
  if (isRunning && hasCondition(pod, 'Ready')) state.reason = 'Running';
  else if (failure !== '') state.reason = failure;
  else if (isRunning) state.reason = 'NotReady';
}

function addRestarts(state: PodState, status: JsonObject): void {
  state.restarts += numberAt(status, 'restartCount');
  const finishedAt = textAt(status, 'lastState', 'terminated', 'finishedAt');
  if (finishedAt !== '' && !(Date.parse(finishedAt) <= Date.parse(state.restartedAt))) state.restartedAt = finishedAt;
}

function terminatedReason(status: JsonObject): string {
  const reason = textAt(status, 'state', 'terminated', 'reason');
  const signal = numberAt(status, 'state', 'terminated', 'signal');
  if (reason !== '') return reason;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberAt(status, 'state', 'terminated', 'exitCode')}`;
}

function readinessGates(pod: JsonObject): string {
  const gates = objectsAt(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  return `${gates.filter((gate) => hasCondition(pod, textAt(gate, 'conditionType'))).length}/${gates.length}`;
}
