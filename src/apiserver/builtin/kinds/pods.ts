import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import { goJson } from '../../schema/go-values.js';
import { quantities } from '../amounts.js';
import { INT32_MAX } from '../built-in-formats.js';
import { child, childOrNew, eachObject, has, number, objects, restore, specOf, text, textMap } from '../fields.js';
import { type KindRules, type KindRulesTable, membersChange, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { podQuality } from '../quality-of-service.js';
import { internalDifference } from '../spec-difference.js';
import { checkImageText } from '../validation/containers.js';
import { checkPodSpec, checkPodTemplate } from '../validation/pod-spec.js';
import { checkTolerations } from '../validation/scheduling.js';
import { podTemplateWarnings } from '../validation/warnings.js';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CHANGEABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function checkPod(pod: JsonObject, problems: Problems): void {
  const spec = specOf(pod);
  checkPodSpec(problems, 'spec', spec, { podName: text(child(pod, 'metadata'), 'name'), isPod: true });
  for (const list of ['containers', 'initContainers']) {
    for (const [path, container] of eachObject(spec, 'spec', list)) checkImageText(problems, path, container);
  }
}

function validatePodUpdate(pod: JsonObject, live: JsonObject, problems: Problems): void {
  const spec = specOf(pod);
  const before = specOf(live);
  for (const list of ['containers', 'initContainers']) {
    if (objects(spec, list).length === objects(before, list).length) continue;
    problems.forbidden(`spec.${list}`, 'pod updates may not add or remove containers');
    return;
  }
  if (!checkDeadline(spec, before, problems)) return;
  checkAddedTolerations(spec, before, problems);
  const gates = new Set(objects(before, 'schedulingGates').map((gate) => text(gate, 'name')));
  for (const [path, gate] of eachObject(spec, 'spec', 'schedulingGates')) {
    const name = text(gate, 'name');
    if (gates.has(name)) continue;
    const rule = `only deletion is allowed, but found new scheduling gate '${name}'`;
    problems.forbidden(`${path}.name`, rule);
  }
  const wished = withoutChangeable(spec, before, gates.size > 0);
  if (!jsonEqual(wished, before)) {
    const difference = internalDifference(before, wished, 'PodSpec');
    problems.forbidden('spec', `pod updates may not change fields other than ${CHANGEABLE.join(',')}\n${difference}`);
  }
}

function checkDeadline(spec: JsonObject, before: JsonObject, problems: Problems): boolean {
  const field = 'spec.activeDeadlineSeconds';
  const deadline = number(spec, 'activeDeadlineSeconds');
  const old = number(before, 'activeDeadlineSeconds');
  if (deadline === undefined) {
    if (old !== undefined) problems.invalid(field, null, 'must not update from a positive integer to nil value');
    return true;
  }
  if (deadline < 0 || deadline > INT32_MAX) {
    problems.invalid(field, deadline, `must be between 0 and ${INT32_MAX}, inclusive`);
    return false;
  }
  if (old === undefined || deadline <= old) return true;
  problems.invalid(field, deadline, 'must be less than or equal to previous value');
  return false;
}

function checkAddedTolerations(spec: JsonObject, before: JsonObject, problems: Problems): void {
  const bare = ({ tolerationSeconds: _, ...toleration }: JsonObject): string => goJson(toleration);
  const now = objects(spec, 'tolerations');
  const known = new Set(now.map(bare));
  const isKept = objects(before, 'tolerations').every((old) => known.has(bare(old)));
  if (isKept) checkTolerations(problems, 'spec', spec);
  else problems.forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds');
}

/** The spec with containers changed by a function, which gets the live container at the same index as well. */
function withContainers(
  spec: JsonObject,
  before: JsonObject,
  change: (container: JsonObject, old: JsonObject | undefined) => JsonObject,
): JsonObject {
  const result: JsonObject = { ...spec };
  for (const list of ['containers', 'initContainers']) {
    const old = objects(before, list);
    if (has(spec, list)) result[list] = objects(spec, list).map((each, index) => change(each, old[index]));
  }
  return result;
}

/** The new spec with the live values of the fields that may change: any other difference is refused. */
function withoutChangeable(spec: JsonObject, before: JsonObject, isGated: boolean): JsonObject {
  const result = withContainers(spec, before, (each, old) => ({ ...each, image: text(old, 'image') }));
  restore(result, before, 'activeDeadlineSeconds', 'schedulingGates', 'tolerations');
  const wasNegative = (number(before, 'terminationGracePeriodSeconds') ?? 0) < 0;
  if (wasNegative && spec['terminationGracePeriodSeconds'] === 1)
    restore(result, before, 'terminationGracePeriodSeconds');
  if (isGated) restore(result, before, 'nodeSelector', 'affinity');
  return result;
}

/** A pod without a node or at its end is deleted at once: no kubelet has to stop its containers. */
function gracePeriodSeconds(pod: JsonObject, requestedSeconds: number | undefined): number | undefined {
  const spec = specOf(pod);
  const phase = text(child(pod, 'status'), 'phase');
  if (text(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return undefined;
  const seconds = requestedSeconds ?? number(spec, 'terminationGracePeriodSeconds') ?? 30;
  // Kubernetes treats a negative period as one second.
  const period = seconds < 0 ? 1 : seconds;
  return period === 0 ? undefined : period;
}

function keepStatusDetails(pod: JsonObject, live: JsonObject): void {
  const status = childOrNew(pod, 'status');
  const before = child(live, 'status') ?? {};
  // The class of a pod is set at its creation.
  if (has(before, 'qosClass')) restore(status, before, 'qosClass');
  if (!has(status, 'observedGeneration')) restore(status, before, 'observedGeneration');
}

function checkStatus(pod: JsonObject, live: JsonObject, problems: Problems): void {
  const status = child(pod, 'status');
  if (text(specOf(pod), 'nodeName') !== text(specOf(live), 'nodeName')) {
    problems.forbidden('status.nodeName', 'may not be changed directly');
  }
  const names = text(status, 'nominatedNodeName');
  if (names === '' || /^[a-z0-9.-]+$/.test(names)) return;
  problems.invalid('status.nominatedNodeName', names, 'must be the name of a node');
}

function checkEphemeral(pod: JsonObject, live: JsonObject, problems: Problems): void {
  checkPod(pod, problems);
  const isMirror = Object.hasOwn(textMap(child(live, 'metadata'), 'annotations'), MIRROR_ANNOTATION);
  if (isMirror) problems.forbidden('', 'static pods do not support ephemeral containers');
  const now = new Map<string, JsonObject>();
  for (const each of objects(specOf(pod), 'ephemeralContainers')) {
    if (!now.has(text(each, 'name'))) now.set(text(each, 'name'), each);
  }
  for (const old of objects(specOf(live), 'ephemeralContainers')) {
    const name = text(old, 'name');
    const same = now.get(name);
    const about = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (same === undefined) problems.forbidden('spec.ephemeralContainers', `${about} removed\n`);
    else if (!jsonEqual(old, same)) {
      const difference = internalDifference(old, same, 'EphemeralContainer');
      problems.forbidden('spec.ephemeralContainers', `${about} changed\n${difference}`);
    }
  }
}

function withoutAmounts(spec: JsonObject, before: JsonObject): JsonObject {
  const result = withContainers(spec, before, (each, old) => ({ ...each, resources: old?.['resources'] ?? {} }));
  restore(result, before, 'resources');
  return result;
}

/** Takes only the resources of containers from the request; everything else stays as it is stored. */
function takeResources(pod: JsonObject, live: JsonObject): void {
  const wished = specOf(pod);
  restore(pod, live, 'spec');
  const spec = childOrNew(pod, 'spec');
  for (const list of ['containers', 'initContainers']) {
    const now = objects(wished, list);
    if (now.length !== objects(spec, list).length) continue;
    for (const [index, container] of objects(spec, list).entries()) {
      restore(container, now[index]!, 'resources', 'resizePolicy');
    }
  }
  if (has(wished, 'resources')) restore(spec, wished, 'resources');
}

function checkResize(pod: JsonObject, live: JsonObject, problems: Problems): void {
  checkPod(pod, problems);
  const spec = specOf(pod);
  const before = specOf(live);
  if (podQuality(pod) !== podQuality(live)) {
    problems.invalid('spec', podQuality(live), 'Pod QOS Class may not change as a result of resizing');
  }
  if (objects(spec, 'containers').length !== objects(before, 'containers').length) {
    problems.forbidden('spec.containers', 'containers may not be added or removed on resize');
    return;
  }
  for (const list of ['initContainers', 'containers']) {
    for (const [index, old] of objects(before, list).entries()) {
      const now = objects(spec, list)[index];
      for (const kind of ['requests', 'limits']) {
        const kept = quantities(child(now, 'resources'), kind);
        const isRemoved = [...quantities(child(old, 'resources'), kind).keys()].some((name) => !kept.has(name));
        if (!isRemoved) continue;
        problems.forbidden(`spec.${list}[${index}].resources.${kind}`, `resource ${kind} cannot be removed`);
      }
    }
  }
  if (!jsonEqual(withoutAmounts(spec, before), before)) {
    problems.forbidden('spec', 'only cpu and memory resources are mutable');
  }
}

function bumpGeneration(pod: JsonObject, live: JsonObject): void {
  const metadata = childOrNew(pod, 'metadata');
  const before = number(child(live, 'metadata'), 'generation') ?? 0;
  metadata['generation'] = specChanges(pod, live) ? before + 1 : before;
}

const PODS: KindRules = {
  generationChanges: specChanges,
  gracePeriodSeconds,
  prepareForCreate: (pod, { now }) => {
    const gated: JsonObject = {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    };
    const isGated = objects(specOf(pod), 'schedulingGates').length > 0;
    pod['status'] = { phase: 'Pending', qosClass: podQuality(pod), ...(isGated ? { conditions: [gated] } : {}) };
  },
  validate: checkPod,
  validateCreate: (pod, problems) => {
    const spec = specOf(pod);
    if (objects(spec, 'ephemeralContainers').length > 0) {
      problems.forbidden('spec.ephemeralContainers', 'cannot be set on create');
    }
    if (text(spec, 'nodeName') !== '' && objects(spec, 'schedulingGates').length > 0) {
      problems.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
    }
  },
  validateUpdate: validatePodUpdate,
  warnings: (pod) => podTemplateWarnings('spec', specOf(pod)),
  parts: {
    status: {
      keptMetadata: ['deletionTimestamp', 'ownerReferences'],
      ignoredPaths: ['f:spec', 'f:metadata.f:deletionTimestamp', 'f:metadata.f:ownerReferences'],
      prepareForUpdate: (pod, live) => {
        restore(pod, live, 'spec');
        keepStatusDetails(pod, live);
      },
      validateUpdate: checkStatus,
    },
    ephemeralcontainers: {
      keptMetadata: 'all',
      ignoredPaths: ['f:status'],
      prepareForUpdate: (pod, live) => {
        const wished = objects(specOf(pod), 'ephemeralContainers');
        restore(pod, live, 'spec', 'status');
        childOrNew(pod, 'spec')['ephemeralContainers'] = wished;
        if (wished.length === 0) delete childOrNew(pod, 'spec')['ephemeralContainers'];
        bumpGeneration(pod, live);
      },
      validateUpdate: checkEphemeral,
    },
    resize: {
      keptMetadata: 'all',
      ignoredPaths: ['f:status'],
      prepareForUpdate: (pod, live) => {
        takeResources(pod, live);
        restore(pod, live, 'status');
        bumpGeneration(pod, live);
      },
      validateUpdate: checkResize,
    },
  },
};

const POD_TEMPLATES: KindRules = {
  generationChanges: membersChange('template'),
  validate: (object, problems) => checkPodTemplate(problems, 'template', child(object, 'template')),
};

export const POD_RULES: KindRulesTable = { '/pods': PODS, '/podtemplates': POD_TEMPLATES };
