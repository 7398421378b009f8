import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import { quantities } from '../amounts.js';
import { dnsLabelProblems, labelKeyProblems, labelValueProblems, rangeProblems } from '../built-in-formats.js';
import {
  child,
  childOrNew,
  eachObject,
  eachText,
  has,
  number,
  objects,
  restore,
  text,
  textMap,
  texts,
} from '../fields.js';
import { type KindRules, type KindRulesTable, keepsDeclaredMember, keepsMember } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { checkLabels } from '../validation/labels.js';
import { checkOverhead, checkResourceAmount } from '../validation/resources.js';
import { checkTolerations, TAINT_EFFECTS } from '../validation/scheduling.js';

const FINALIZER = 'kubernetes';
const USER_PRIORITY_MAX = 1_000_000_000;
const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const IS_LEAVING = 'status.Phase';

const NAMESPACES: KindRules = {
  nameProblems: dnsLabelProblems,
  prepareForCreate: (namespace) => {
    namespace['status'] = { phase: 'Active' };
    const spec = childOrNew(namespace, 'spec');
    const finalizers = texts(spec, 'finalizers');
    if (!finalizers.includes(FINALIZER)) spec['finalizers'] = [...finalizers, FINALIZER];
  },
  // Finalizers change through the `finalize` subresource only.
  prepareForUpdate: (namespace, live) => restore(namespace, live, 'spec'),
  validate: checkFinalizers,
  parts: {
    status: {
      prepareForUpdate: (namespace, live) => restore(namespace, live, 'spec'),
      validateUpdate: (namespace, live, problems) => {
        const phase = text(child(namespace, 'status'), 'phase');
        const isLeaving = has(child(live, 'metadata'), 'deletionTimestamp');
        if (!isLeaving && phase !== 'Active') {
          problems.invalid(IS_LEAVING, phase, "may only be 'Active' if `deletionTimestamp` is empty");
        } else if (isLeaving && phase !== 'Terminating') {
          problems.invalid(IS_LEAVING, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
        }
      },
    },
    finalize: {
      ignoredPaths: ['f:status'],
      prepareForUpdate: (namespace, live) => restore(namespace, live, 'status'),
      validateUpdate: (namespace, _live, problems) => checkFinalizers(namespace, problems),
    },
  },
};

function checkFinalizers(namespace: JsonObject, problems: Problems): void {
  for (const [field, name] of eachText(child(namespace, 'spec'), 'spec', 'finalizers')) {
    const found = labelKeyProblems(name);
    problems.invalidEach(field, name, found);
    if (found.length === 0 && !name.includes('/') && name !== FINALIZER) {
      problems.invalid(field, name, 'name is neither a standard finalizer name nor is it fully qualified');
    }
  }
}

function checkTaints(problems: Problems, taints: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const field = `metadata.taints[${index}]`;
    const key = text(taint, 'key');
    const value = text(taint, 'value');
    const effect = text(taint, 'effect');
    problems.format(`${field}.key`, key, labelKeyProblems);
    const found = labelValueProblems(value);
    if (found.length > 0) problems.invalid(`${field}.value`, value, found.join(';'));
    if (effect === '') problems.required(`${field}.effect`);
    else problems.oneOf(`${field}.effect`, effect, TAINT_EFFECTS);
    if (seen.has(`${key}:${effect}`)) {
      const printed = { Key: key, Value: value, Effect: effect, TimeAdded: taint['timeAdded'] ?? null };
      problems.duplicate(field, printed, 'taints must be unique by key and effect pair');
    }
    seen.add(`${key}:${effect}`);
  }
}

function checkNodeStatus(node: JsonObject, problems: Problems): void {
  const status = child(node, 'status');
  for (const list of ['capacity', 'allocatable']) {
    for (const [name, amount] of quantities(status, list)) {
      checkResourceAmount(problems, `status.${list}.${name}`, name, amount);
    }
  }
  const seen = new Set<string>();
  for (const [path, address] of eachObject(status, 'status', 'addresses')) {
    const printed = { Type: text(address, 'type'), Address: text(address, 'address') };
    const key = JSON.stringify(printed);
    if (seen.has(key)) problems.duplicate(path, printed);
    seen.add(key);
  }
}

const NODES: KindRules = {
  keepsStatusOnCreate: true,
  validate: (node, problems) => {
    const spec = child(node, 'spec');
    checkTaints(problems, objects(spec, 'taints'));
    for (const [path, range] of eachText(spec, 'spec', 'podCIDRs')) problems.format(path, range, rangeProblems);
  },
  validateUpdate: (node, live, problems, { surface }) => {
    const spec = child(node, 'spec');
    const before = child(live, 'spec');
    const rule = (name: string): string => `node updates may not change ${name} except from "" to valid`;
    if (texts(before, 'podCIDRs').length > 0 && !jsonEqual(texts(spec, 'podCIDRs'), texts(before, 'podCIDRs'))) {
      problems.forbidden('spec.podCIDRs', rule('podCIDR'));
    }
    const provider = text(before, 'providerID');
    if (provider !== '' && provider !== text(spec, 'providerID')) {
      if (surface.minor >= 37) problems.invalid('spec.providerID', null, 'field cannot be modified once set');
      else problems.forbidden('spec.providerID', rule('providerID'));
    }
  },
  parts: { status: { validateUpdate: (node, _live, problems) => checkNodeStatus(node, problems) } },
};

const PRIORITY_CLASSES: KindRules = {
  prepareForCreate: (object) => {
    childOrNew(object, 'metadata')['generation'] = 1;
  },
  prepareForUpdate: (object, live) =>
    restore(childOrNew(object, 'metadata'), child(live, 'metadata') ?? {}, 'generation'),
  validateCreate: (object, problems) => {
    const name = text(child(object, 'metadata'), 'name');
    const value = number(object, 'value') ?? 0;
    if (name.startsWith('system-')) {
      const known = Object.hasOwn(SYSTEM_PRIORITIES, name) ? SYSTEM_PRIORITIES[name] : undefined;
      if (known !== value) {
        const rule = "priority class names with 'system-' prefix are reserved for system use only";
        const why =
          known === undefined
            ? `${name} is not a known system priority class`
            : `value of ${name} PriorityClass must be ${known}`;
        problems.forbidden('metadata.name', `${rule}. error: ${why}`);
      }
    } else if (value > USER_PRIORITY_MAX) {
      problems.forbidden('value', `maximum allowed value of a user defined priority is ${USER_PRIORITY_MAX}`);
    }
    problems.optionalOneOf(object, '', 'preemptionPolicy', ['PreemptLowerPriority', 'Never']);
  },
  validateUpdate: (object, live, problems) => {
    if (object['value'] !== live['value']) problems.forbidden('value', 'may not be changed in an update.');
    keepsMember(problems, 'preemptionPolicy', object, live);
  },
};

const RUNTIME_CLASSES: KindRules = {
  createsOnUpdate: true,
  updatesUnconditionally: false,
  validate: (object, problems, _around, live) => {
    if (live === undefined) problems.format('handler', text(object, 'handler'), dnsLabelProblems);
    checkOverhead(problems, 'overhead', child(child(object, 'overhead'), 'podFixed'));
    const scheduling = child(object, 'scheduling');
    checkLabels(problems, 'scheduling.nodeSelector', textMap(scheduling, 'nodeSelector'));
    checkTolerations(problems, 'scheduling', scheduling);
  },
  validateUpdate: (object, live, problems, { surface }) =>
    keepsDeclaredMember(problems, 'handler', object, live, surface),
};

const LEASES: KindRules = {
  createsOnUpdate: true,
  updatesUnconditionally: false,
  validate: (object, problems) => {
    const spec = child(object, 'spec');
    const seconds = number(spec, 'leaseDurationSeconds');
    if (seconds !== undefined && seconds <= 0) {
      problems.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0');
    }
    problems.nonNegative('spec.leaseTransitions', number(spec, 'leaseTransitions'));
    if (has(spec, 'strategy')) return;
    if (has(spec, 'preferredHolder')) {
      problems.forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined');
    }
  },
};

const NOTE_LENGTH_MAX = 1_024;
const NAME_LENGTH_MAX = 128;

/** Events of both groups are the same objects; the names of their fields differ. */
function checkEvent(event: JsonObject, problems: Problems, isNew: boolean): void {
  const namespace = text(child(event, 'metadata'), 'namespace');
  const about = text(child(event, isNew ? 'regarding' : 'involvedObject'), 'namespace');
  const mismatch = (): void => problems.invalid('involvedObject.namespace', about, 'does not match event.namespace');
  if (!has(event, 'eventTime')) {
    if (about === '' ? namespace !== '' && namespace !== 'default' : about !== namespace) mismatch();
    return;
  }
  if (about === '' && namespace !== 'default' && namespace !== 'kube-system') mismatch();
  const field = isNew ? 'reportingController' : 'reportingComponent';
  const controller = text(event, field);
  if (controller === '') problems.required(field);
  problems.format(field, controller, labelKeyProblems);
  for (const name of ['reportingInstance', 'action', 'reason']) {
    const value = text(event, name);
    if (value === '') problems.required(name);
    if (value.length > NAME_LENGTH_MAX) problems.invalid(name, '', `can have at most ${NAME_LENGTH_MAX} characters`);
  }
  if (text(event, isNew ? 'note' : 'message').length > NOTE_LENGTH_MAX) {
    problems.invalid('message', '', `can have at most ${NOTE_LENGTH_MAX} characters`);
  }
}

function checkSeries(event: JsonObject, problems: Problems): void {
  const series = child(event, 'series');
  if (series === undefined) return;
  if ((number(series, 'count') ?? 0) < 2) problems.invalid('series.count', '', 'should be at least 2');
  if (!has(series, 'lastObservedTime')) problems.required('series.lastObservedTime');
}

/** Immutable members of events.k8s.io events, with their names in problems; kube-apiserver checks `reason` twice. */
const EVENT_MEMBERS: readonly (readonly [name: string, field: string])[] = [
  ['regarding', 'involvedObject'],
  ['reason', 'reason'],
  ['note', 'message'],
  ['reason', 'reason'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingController', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
];

const OLD_EVENTS: KindRules = {
  createsOnUpdate: true,
  validate: (event, problems) => checkEvent(event, problems, false),
};
const EVENTS: KindRules = {
  createsOnUpdate: true,
  validate: (event, problems) => {
    checkEvent(event, problems, true);
    checkSeries(event, problems);
  },
  validateCreate: (event, problems) => {
    if (!has(event, 'eventTime')) problems.required('eventTime');
    const type = text(event, 'type');
    if (type !== 'Normal' && type !== 'Warning') problems.invalid('type', '', `has invalid value: ${type}`);
  },
  validateUpdate: (event, live, problems) => {
    for (const [name, field] of EVENT_MEMBERS) keepsMember(problems, field, event, live, name);
  },
};

export const CLUSTER_RULES: KindRulesTable = {
  '/namespaces': NAMESPACES,
  '/nodes': NODES,
  '/events': OLD_EVENTS,
  'events.k8s.io/events': EVENTS,
  'scheduling.k8s.io/priorityclasses': PRIORITY_CLASSES,
  'node.k8s.io/runtimeclasses': RUNTIME_CLASSES,
  'coordination.k8s.io/leases': LEASES,
  'coordination.k8s.io/leasecandidates': { createsOnUpdate: true, updatesUnconditionally: false },
};
