import { isObject, type Json, type JsonObject, jsonEqual } from '../../../kube/json.js';
import { dnsLabelProblems } from '../built-in-formats.js';
import {
  child,
  childOrNew,
  eachObject,
  has,
  number,
  objects,
  podSpecOf,
  restore,
  specOf,
  text,
  textMap,
} from '../fields.js';
import { type KindRules, type KindRulesTable, keepsMember, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { checkClaimSpec } from '../validation/claims.js';
import { checkIntOrPercent, checkPercentIsPart, intOrPercent } from '../validation/counts.js';
import { checkLabelSelector, isEmptySelector, selects, templateLabels } from '../validation/labels.js';
import { checkPodTemplate } from '../validation/pod-spec.js';
import { podTemplateWarnings } from '../validation/warnings.js';

const templateWarnings = (object: JsonObject): string[] =>
  podTemplateWarnings('spec.template.spec', podSpecOf(specOf(object)));
const NO_MATCH = '`selector` does not match template `labels`';
const RETENTION = ['Retain', 'Delete'];

/** A selector that must be there and must not be empty. */
function checkSelector(problems: Problems, spec: JsonObject, emptyFor: string): void {
  const selector = child(spec, 'selector');
  if (selector === undefined) problems.required('spec.selector');
  checkLabelSelector(problems, 'spec.selector', selector);
  checkNotEmpty(problems, selector, emptyFor);
}

function checkNotEmpty(problems: Problems, selector: JsonObject | undefined, emptyFor: string): void {
  if (selector === undefined || !isEmptySelector(selector)) return;
  problems.invalid('spec.selector', selector, `empty selector is invalid for ${emptyFor}`);
}

/** Checks a template whose pods are replaced when they end. */
function checkTemplate(problems: Problems, spec: JsonObject, owner: string): void {
  const template = child(spec, 'template');
  const selector = child(spec, 'selector');
  const isEmpty = selector !== undefined && isEmptySelector(selector);
  if (!isEmpty && selects(selector, templateLabels(template)) === false) {
    problems.invalid('spec.template.metadata.labels', templateLabels(template), NO_MATCH);
  }
  checkPodTemplate(problems, 'spec.template', template);
  checkEndless(problems, spec, owner);
}

/** Pods of a controller restart and have no deadline. */
function checkEndless(problems: Problems, spec: JsonObject, owner: string): void {
  const pod = podSpecOf(spec);
  const restart = text(pod, 'restartPolicy');
  if (restart !== 'Always') problems.unsupported('spec.template.spec.restartPolicy', restart, ['Always']);
  if (has(pod, 'activeDeadlineSeconds')) {
    const rule = `activeDeadlineSeconds in ${owner} is not Supported`;
    problems.forbidden('spec.template.spec.activeDeadlineSeconds', rule);
  }
}

/** Replica counts of a status: none is negative, and parts are at most `replicas`. */
function checkStatusCounts(
  names: readonly string[],
  parts: readonly string[],
): (object: JsonObject, live: JsonObject, problems: Problems) => void {
  return (object, live, problems) => {
    const status = child(object, 'status');
    const count = (name: string): number => number(status, name) ?? 0;
    problems.nonNegativeMembers(status, 'status', ...names);
    for (const name of parts) {
      if (count(name) > count('replicas')) {
        problems.invalid(`status.${name}`, count(name), 'cannot be greater than status.replicas');
      }
    }
    if (parts.includes('availableReplicas') && count('availableReplicas') > count('readyReplicas')) {
      problems.invalid('status.availableReplicas', count('availableReplicas'), 'cannot be greater than readyReplicas');
    }
    const collisions = number(child(live, 'status'), 'collisionCount') ?? 0;
    if (count('collisionCount') < collisions) {
      problems.invalid('status.collisionCount', count('collisionCount'), 'cannot be decremented');
    }
  };
}

/** Selector and template of Deployments and ReplicaSets; kube-apiserver names both kinds in both cases. */
function checkReplicated(problems: Problems, spec: JsonObject): void {
  checkSelector(problems, spec, 'deployment');
  if (selects(child(spec, 'selector'), {}) === undefined) {
    problems.invalid('spec.selector', spec['selector'], 'invalid label selector');
  } else checkTemplate(problems, spec, 'ReplicaSet');
}

const keepsSelector = (object: JsonObject, live: JsonObject, problems: Problems): void =>
  keepsMember(problems, 'spec.selector', specOf(object), specOf(live));

/** An unsupported update strategy, as problems print it. */
const printedStrategy = (strategy: JsonObject): Json => ({
  Type: text(strategy, 'type'),
  RollingUpdate: strategy['rollingUpdate'] ?? null,
});

function checkDeploymentStrategy(problems: Problems, strategy: JsonObject): void {
  const type = text(strategy, 'type');
  const rolling = child(strategy, 'rollingUpdate');
  const field = 'spec.strategy';
  if (type === 'Recreate') {
    const rule = "may not be specified when strategy `type` is 'Recreate'";
    if (rolling !== undefined) problems.forbidden(`${field}.rollingUpdate`, rule);
  } else if (type === 'RollingUpdate') {
    const { maxUnavailable, maxSurge } = rolling ?? {};
    checkIntOrPercent(problems, `${field}.rollingUpdate.maxUnavailable`, maxUnavailable);
    checkIntOrPercent(problems, `${field}.rollingUpdate.maxSurge`, maxSurge);
    if (intOrPercent(maxUnavailable) === 0 && intOrPercent(maxSurge) === 0) {
      problems.invalid(`${field}.rollingUpdate.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0');
    }
    checkPercentIsPart(problems, `${field}.rollingUpdate.maxUnavailable`, maxUnavailable);
  } else problems.unsupported(field, printedStrategy(strategy), ['Recreate', 'RollingUpdate']);
}

const DEPLOYMENTS: KindRules = {
  // Annotations count as a change: they hold the reason of a rollout.
  generationChanges: (object, live) =>
    specChanges(object, live) ||
    !jsonEqual(child(child(object, 'metadata'), 'annotations'), child(child(live, 'metadata'), 'annotations')),
  validate: (object, problems) => {
    const spec = specOf(object);
    problems.nonNegativeMembers(spec, 'spec', 'replicas');
    checkReplicated(problems, spec);
    checkDeploymentStrategy(problems, child(spec, 'strategy') ?? {});
    problems.nonNegativeMembers(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds');
    const deadline = number(spec, 'progressDeadlineSeconds');
    if (deadline !== undefined && deadline <= (number(spec, 'minReadySeconds') ?? 0)) {
      problems.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
    }
  },
  validateUpdate: keepsSelector,
  warnings: templateWarnings,
  parts: {
    status: {
      keptMetadata: ['labels'],
      ignoredPaths: ['f:spec', 'f:metadata.f:labels'],
      validateUpdate: checkStatusCounts(
        [
          'observedGeneration',
          'replicas',
          'updatedReplicas',
          'readyReplicas',
          'availableReplicas',
          'unavailableReplicas',
          'terminatingReplicas',
          'collisionCount',
        ],
        ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
      ),
    },
  },
};

const REPLICA_COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
];
const REPLICA_PARTS = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];

const REPLICA_SETS: KindRules = {
  generationChanges: specChanges,
  validate: (object, problems) => {
    const spec = specOf(object);
    problems.nonNegativeMembers(spec, 'spec', 'replicas', 'minReadySeconds');
    checkReplicated(problems, spec);
  },
  validateUpdate: keepsSelector,
  warnings: templateWarnings,
  parts: { status: { validateUpdate: checkStatusCounts(REPLICA_COUNTS, REPLICA_PARTS) } },
};

const REPLICATION_CONTROLLERS: KindRules = {
  generationChanges: specChanges,
  validate: (object, problems) => {
    const spec = specOf(object);
    problems.nonNegativeMembers(spec, 'spec', 'minReadySeconds', 'replicas');
    const selector = textMap(spec, 'selector');
    if (Object.keys(selector).length === 0) problems.required('spec.selector');
    const template = child(spec, 'template');
    if (template === undefined) {
      problems.required('spec.template');
      return;
    }
    const labels = textMap(child(template, 'metadata'), 'labels');
    if (Object.keys(selector).some((key) => !Object.hasOwn(labels, key) || labels[key] !== selector[key])) {
      problems.invalid('spec.template.metadata.labels', templateLabels(template), NO_MATCH);
    }
    checkPodTemplate(problems, 'spec.template', template);
    checkEndless(problems, spec, 'ReplicationController');
  },
  warnings: templateWarnings,
  parts: { status: { validateUpdate: checkStatusCounts(REPLICA_COUNTS, REPLICA_PARTS) } },
};

function checkStatefulStrategy(problems: Problems, spec: JsonObject): void {
  const strategy = child(spec, 'updateStrategy') ?? {};
  const rolling = child(strategy, 'rollingUpdate');
  const field = 'spec.updateStrategy';
  const type = text(strategy, 'type');
  if (type === 'OnDelete') {
    if (rolling !== undefined) {
      const printed = {
        Partition: number(rolling, 'partition') ?? 0,
        MaxUnavailable: rolling['maxUnavailable'] ?? null,
      };
      problems.invalid(`${field}.rollingUpdate`, printed, "only allowed for updateStrategy 'RollingUpdate'");
    }
  } else if (type !== 'RollingUpdate') {
    problems.invalid(field, printedStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  } else if (rolling !== undefined) {
    problems.nonNegative(`${field}.rollingUpdate.partition`, number(rolling, 'partition'));
    const most = rolling['maxUnavailable'];
    if (most === undefined) return;
    checkIntOrPercent(problems, `${field}.rollingUpdate.maxUnavailable`, most);
    if (intOrPercent(most) === 0) problems.invalid(`${field}.rollingUpdate.maxUnavailable`, most, 'cannot be 0');
    checkPercentIsPart(problems, `${field}.rollingUpdate.maxUnavailable`, most);
  }
}

/** The spec as its pods see it: with a volume for each claim, by the same name. */
function withClaimVolumes(spec: JsonObject): JsonObject {
  const names = objects(spec, 'volumeClaimTemplates').map((each) => text(child(each, 'metadata'), 'name'));
  const template = child(spec, 'template') ?? {};
  const pod = podSpecOf(spec);
  const claimed = new Set(names);
  const others = objects(pod, 'volumes').filter((volume) => !claimed.has(text(volume, 'name')));
  const claims = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const { subdomain: _, hostname: __, ...rest } = pod;
  return { ...spec, template: { ...template, spec: { ...rest, volumes: [...claims, ...others] } } };
}

const STATEFUL_CHANGEABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

/** From 1.37 on each of them has a problem of its own. */
const STATEFUL_IMMUTABLE = ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'];

const STATEFUL_SETS: KindRules = {
  nameProblems: dnsLabelProblems,
  generationChanges: specChanges,
  validate: (object, problems, _around, live) => {
    const spec = specOf(object);
    const policy = text(spec, 'podManagementPolicy');
    if (policy !== 'OrderedReady' && policy !== 'Parallel') {
      problems.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'");
    }
    checkStatefulStrategy(problems, spec);
    const retention = child(spec, 'persistentVolumeClaimRetentionPolicy');
    for (const name of ['whenDeleted', 'whenScaled']) {
      problems.oneOf(`spec.persistentVolumeClaimRetentionPolicy.${name}`, text(retention, name), RETENTION);
    }
    if (live === undefined) {
      for (const [path, claim] of eachObject(spec, 'spec', 'volumeClaimTemplates')) {
        checkClaimSpec(problems, `${path}.spec`, specOf(claim));
      }
    }
    problems.nonNegativeMembers(spec, 'spec', 'replicas', 'minReadySeconds');
    problems.nonNegative('spec.ordinals.start', number(child(spec, 'ordinals'), 'start'));
    if (live === undefined) problems.optionalFormat('spec.serviceName', text(spec, 'serviceName'), dnsLabelProblems);
    checkSelector(problems, spec, 'statefulset');
    if (selects(child(spec, 'selector'), {}) === undefined) problems.invalid('spec.selector', spec['selector'], '');
    else checkTemplate(problems, withClaimVolumes(spec), 'StatefulSet');
  },
  validateUpdate: (object, live, problems, { surface }) => {
    const spec: JsonObject = { ...specOf(object) };
    restore(spec, specOf(live), ...STATEFUL_CHANGEABLE);
    if (jsonEqual(spec, specOf(live))) return;
    if (surface.minor >= 37) {
      for (const name of STATEFUL_IMMUTABLE) keepsMember(problems, `spec.${name}`, spec, specOf(live));
      return;
    }
    problems.forbidden(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    );
  },
  warnings: templateWarnings,
  parts: {
    status: {
      validateUpdate: checkStatusCounts(
        ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas', 'observedGeneration'],
        ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      ),
    },
  },
};

function checkDaemonStrategy(problems: Problems, spec: JsonObject): void {
  const strategy = child(spec, 'updateStrategy') ?? {};
  const field = 'spec.updateStrategy';
  const type = text(strategy, 'type');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    problems.unsupported(field, printedStrategy(strategy), ['RollingUpdate', 'OnDelete']);
    return;
  }
  const { maxUnavailable, maxSurge } = child(strategy, 'rollingUpdate') ?? {};
  for (const [name, value] of Object.entries({ maxUnavailable, maxSurge })) {
    checkIntOrPercent(problems, `${field}.rollingUpdate.${name}`, value);
    checkPercentIsPart(problems, `${field}.rollingUpdate.${name}`, value);
  }
  const hasUnavailable = intOrPercent(maxUnavailable) !== 0;
  const hasSurge = intOrPercent(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    problems.invalid(`${field}.rollingUpdate.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero');
  } else if (!hasUnavailable && !hasSurge) {
    problems.required(`${field}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
  }
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** The annotation that counts changes of the template, formerly the field `templateGeneration`. */
function setTemplateGeneration(object: JsonObject, generation: number): void {
  childOrNew(childOrNew(object, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = String(generation);
}

const templateGeneration = (object: JsonObject): number =>
  Number(textMap(child(object, 'metadata'), 'annotations')[TEMPLATE_GENERATION] ?? 0) || 0;

const DAEMON_SETS: KindRules = {
  generationChanges: specChanges,
  prepareForCreate: (object) => setTemplateGeneration(object, Math.max(1, templateGeneration(object))),
  prepareForUpdate: (object, live) => {
    const isChanged = !jsonEqual(specOf(object)['template'], specOf(live)['template']);
    setTemplateGeneration(object, templateGeneration(live) + (isChanged ? 1 : 0));
  },
  validate: (object, problems, _around, live) => {
    if (live !== undefined) keepsSelector(object, live, problems);
    const spec = specOf(object);
    const selector = child(spec, 'selector');
    checkLabelSelector(problems, 'spec.selector', selector);
    const labels = templateLabels(child(spec, 'template'));
    if (selects(selector, labels) === false) problems.invalid('spec.template.metadata.labels', labels, NO_MATCH);
    checkNotEmpty(problems, selector, 'daemonset');
    checkPodTemplate(problems, 'spec.template', child(spec, 'template'));
    checkEndless(problems, spec, 'DaemonSet');
    problems.nonNegativeMembers(spec, 'spec', 'minReadySeconds');
    checkDaemonStrategy(problems, spec);
    problems.nonNegativeMembers(spec, 'spec', 'revisionHistoryLimit');
  },
  warnings: templateWarnings,
  parts: {
    status: {
      validateUpdate: checkStatusCounts(
        [
          'currentNumberScheduled',
          'numberMisscheduled',
          'desiredNumberScheduled',
          'numberReady',
          'observedGeneration',
          'updatedNumberScheduled',
          'numberAvailable',
          'numberUnavailable',
        ],
        [],
      ),
    },
  },
};

const CONTROLLER_REVISIONS: KindRules = {
  validate: (object, problems) => problems.nonNegative('revision', number(object, 'revision')),
  validateCreate: (object, problems) => {
    const data = object['data'];
    if (data === undefined || data === null) problems.required('data', 'data is mandatory');
    else if (!isObject(data)) problems.required('data', 'data must be a valid JSON object');
  },
  validateUpdate: (object, live, problems) => keepsMember(problems, 'data', object, live),
};

export const WORKLOAD_RULES: KindRulesTable = {
  'apps/deployments': DEPLOYMENTS,
  'apps/replicasets': REPLICA_SETS,
  'apps/statefulsets': STATEFUL_SETS,
  'apps/daemonsets': DAEMON_SETS,
  'apps/controllerrevisions': CONTROLLER_REVISIONS,
  '/replicationcontrollers': REPLICATION_CONTROLLERS,
};
