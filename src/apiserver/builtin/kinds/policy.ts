import type { JsonObject } from '../../../kube/json.js';
import { amountOf, compareAmounts, quantities } from '../amounts.js';
import { labelKeyProblems, pathSegmentProblems } from '../built-in-formats.js';
import { child, has, number, objects, text, texts } from '../fields.js';
import { type KindRules, type KindRulesTable, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { checkIntOrPercent, checkPercentIsPart } from '../validation/counts.js';
import { checkLabelSelector } from '../validation/labels.js';
import {
  checkContainerResourceName,
  checkQuotaResourceName,
  checkResourceAmount,
  checkResourceName,
  isOvercommitAllowed,
  isQuotaResource,
} from '../validation/resources.js';

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const OF_PODS =
  /^(pods|cpu|memory|ephemeral-storage|(requests|limits)\.(cpu|memory|ephemeral-storage)|(requests\.)?hugepages-.*)$/;

/** Pods of best effort have nothing but their number to count. */
function isScopeOf(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods';
  if (scope === 'VolumeAttributesClass') return /^(requests\.storage|persistentvolumeclaims)$/.test(resource);
  return SCOPES.includes(scope) ? OF_PODS.test(resource) : true;
}

function checkQuota(quota: JsonObject, problems: Problems): void {
  const spec = child(quota, 'spec');
  const hard = quantities(spec, 'hard');
  for (const [name, amount] of hard) {
    const field = `spec.hard[${name}]`;
    checkQuotaResourceName(problems, field, name);
    checkResourceAmount(problems, field, name, amount);
  }
  const scopes = texts(spec, 'scopes');
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) problems.invalid('spec.scopes', scopes, 'unsupported scope');
    for (const name of [...hard.keys()].sort()) {
      if (isQuotaResource(name) && !isScopeOf(scope, name)) {
        problems.invalid('spec.scopes', scopes, 'unsupported scope applied to resource');
      }
    }
  }
  for (const [one, other] of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ] as const) {
    if (scopes.includes(one) && scopes.includes(other)) problems.invalid('spec.scopes', scopes, 'conflicting scopes');
  }
}

const QUOTAS: KindRules = {
  validate: (quota, problems) => checkQuota(quota, problems),
  parts: {
    status: {
      validateUpdate: (quota, _live, problems) => {
        for (const list of ['hard', 'used']) {
          for (const [name, amount] of quantities(child(quota, 'status'), list)) {
            checkQuotaResourceName(problems, `status.${list}[${name}]`, name);
            checkResourceAmount(problems, `status.${list}[${name}]`, name, amount);
          }
        }
      },
    },
  },
};

function checkLimits(range: JsonObject, problems: Problems): void {
  const types = new Set<string>();
  for (const [index, item] of objects(child(range, 'spec'), 'limits').entries()) {
    const field = `spec.limits[${index}]`;
    const type = text(item, 'type');
    const found = labelKeyProblems(type);
    problems.invalidEach(`${field}.type`, type, found);
    if (found.length === 0 && !type.includes('/') && !['Pod', 'Container', 'PersistentVolumeClaim'].includes(type)) {
      problems.invalid(`${field}.type`, type, 'must be a standard limit type or fully qualified');
    }
    if (types.has(type)) problems.duplicate(`${field}.type`, type);
    types.add(type);
    checkLimitItem(problems, field, item);
  }
}

function checkLimitItem(problems: Problems, field: string, item: JsonObject): void {
  const type = text(item, 'type');
  const checkName = type === 'Pod' || type === 'Container' ? checkContainerResourceName : checkResourceName;
  const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];
  for (const list of lists) {
    if (type === 'Pod' && (list === 'default' || list === 'defaultRequest')) {
      if (has(item, list)) problems.forbidden(`${field}.${list}`, "may not be specified when `type` is 'Pod'");
      continue;
    }
    for (const name of quantities(item, list).keys()) checkName(problems, `${field}.${list}[${name}]`, name);
  }
  if (
    type === 'PersistentVolumeClaim' &&
    !quantities(item, 'min').has('storage') &&
    !quantities(item, 'max').has('storage')
  ) {
    const rule = 'either minimum or maximum storage value is required, but neither was provided';
    problems.required(`${field}.limits`, rule);
  }
  if (type === 'Pod') return;
  const names = new Set(lists.flatMap((list) => [...quantities(item, list).keys()]));
  for (const name of names) checkOrder(problems, field, item, name);
}

/** Smallest, usual and largest must be in that order. */
function checkOrder(problems: Problems, field: string, item: JsonObject, name: string): void {
  const get = (list: string): string | undefined => quantities(item, list).get(name);
  const [min, max, usual, request] = [get('min'), get('max'), get('default'), get('defaultRequest')];
  const isMore = (left: string | undefined, right: string | undefined): boolean =>
    left !== undefined && right !== undefined && compareAmounts(left, right) > 0;
  const at = (list: string): string => `${field}.${list}[${name}]`;
  if (isMore(min, max)) problems.invalid(at('min'), min, `min value ${min} is greater than max value ${max}`);
  if (isMore(min, request)) {
    problems.invalid(
      at('defaultRequest'),
      request,
      `min value ${min} is greater than default request value ${request}`,
    );
  }
  if (isMore(request, max)) {
    problems.invalid(
      at('defaultRequest'),
      request,
      `default request value ${request} is greater than max value ${max}`,
    );
  }
  if (isMore(request, usual)) {
    const rule = `default request value ${request} is greater than default limit value ${usual}`;
    problems.invalid(at('defaultRequest'), request, rule);
  }
  if (isMore(min, usual))
    problems.invalid(at('default'), min, `min value ${min} is greater than default value ${usual}`);
  if (isMore(usual, max))
    problems.invalid(at('default'), max, `default value ${usual} is greater than max value ${max}`);
  if (
    !isOvercommitAllowed(name) &&
    usual !== undefined &&
    request !== undefined &&
    compareAmounts(usual, request) !== 0
  ) {
    const rule = `default value ${usual} must equal to defaultRequest value ${request} in ${name}`;
    problems.invalid(at('defaultRequest'), request, rule);
  }
}

const BUDGETS: KindRules = {
  updatesUnconditionally: false,
  generationChanges: specChanges,
  validate: (budget, problems) => {
    const spec = child(budget, 'spec') ?? {};
    if (has(spec, 'minAvailable') && has(spec, 'maxUnavailable')) {
      const printed = {
        MinAvailable: spec['minAvailable']!,
        Selector: spec['selector'] ?? null,
        MaxUnavailable: spec['maxUnavailable']!,
        UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
      };
      problems.invalid('spec', printed, 'minAvailable and maxUnavailable cannot be both set');
    }
    for (const name of ['minAvailable', 'maxUnavailable']) {
      if (!has(spec, name)) continue;
      checkIntOrPercent(problems, `spec.${name}`, spec[name]);
      checkPercentIsPart(problems, `spec.${name}`, spec[name]);
    }
    checkLabelSelector(problems, 'spec.selector', child(spec, 'selector'));
    if (has(spec, 'unhealthyPodEvictionPolicy')) {
      const policy = text(spec, 'unhealthyPodEvictionPolicy');
      problems.oneOf('spec.unhealthyPodEvictionPolicy', policy, ['AlwaysAllow', 'IfHealthyBudget']);
    }
  },
  parts: {
    status: {
      validateUpdate: (budget, _live, problems) => {
        const status = child(budget, 'status');
        for (const name of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']) {
          problems.nonNegative(`status.${name}`, number(status, name));
        }
      },
    },
  },
};

const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const SOURCE_MISSING = 'must populate information for the given metric source';

function checkScaler(scaler: JsonObject, problems: Problems): void {
  const spec = child(scaler, 'spec') ?? {};
  const min = number(spec, 'minReplicas');
  const max = number(spec, 'maxReplicas') ?? 0;
  if (min !== undefined && min < 1) problems.invalid('spec.minReplicas', min, 'must be greater than or equal to 1');
  if (max === 0) problems.required('spec.maxReplicas', 'must be set and greater than 0');
  else if (max < 0) problems.invalid('spec.maxReplicas', max, 'must be greater than or equal to 1');
  if (min !== undefined && max < min) {
    problems.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`');
  }
  checkTargetReference(problems, 'spec.scaleTargetRef', child(spec, 'scaleTargetRef') ?? {});
  const metrics = objects(spec, 'metrics');
  for (const [index, metric] of metrics.entries()) checkMetric(problems, `spec.metrics[${index}]`, metric);
  const reachesZero = metrics.some((metric) => ['Object', 'External'].includes(text(metric, 'type')));
  checkBehavior(problems, 'spec.behavior', child(spec, 'behavior'));
  if (min === 0 && !reachesZero) {
    const rule = 'must specify at least one Object or External metric to support scaling to zero replicas';
    problems.forbidden('spec.metrics', rule);
  }
}

const STABILIZATION_SECONDS_MAX = 3_600;
const PERIOD_SECONDS_MAX = 1_800;

function checkBehavior(problems: Problems, field: string, behavior: JsonObject | undefined): void {
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = child(behavior, direction);
    if (rules === undefined) continue;
    const path = `${field}.${direction}`;
    const seconds = number(rules, 'stabilizationWindowSeconds');
    if (seconds !== undefined && seconds < 0) {
      problems.invalid(`${path}.stabilizationWindowSeconds`, seconds, 'must be greater than or equal to zero');
    } else if (seconds !== undefined && seconds > STABILIZATION_SECONDS_MAX) {
      const rule = `must be less than or equal to ${STABILIZATION_SECONDS_MAX}`;
      problems.invalid(`${path}.stabilizationWindowSeconds`, seconds, rule);
    }
    if (has(rules, 'selectPolicy')) {
      problems.oneOf(`${path}.selectPolicy`, text(rules, 'selectPolicy'), ['Disabled', 'Max', 'Min']);
    }
    const policies = objects(rules, 'policies');
    if (policies.length === 0) problems.required(`${path}.policies`, 'must specify at least one Policy');
    for (const [index, policy] of policies.entries())
      checkScalingPolicy(problems, `${path}.policies[${index}]`, policy);
  }
}

function checkScalingPolicy(problems: Problems, field: string, policy: JsonObject): void {
  problems.oneOf(`${field}.type`, text(policy, 'type'), ['Percent', 'Pods']);
  const value = number(policy, 'value') ?? 0;
  if (value <= 0) problems.invalid(`${field}.value`, value, 'must be greater than zero');
  const seconds = number(policy, 'periodSeconds') ?? 0;
  if (seconds <= 0) problems.invalid(`${field}.periodSeconds`, seconds, 'must be greater than zero');
  else if (seconds > PERIOD_SECONDS_MAX) {
    problems.invalid(`${field}.periodSeconds`, seconds, `must be less than or equal to ${PERIOD_SECONDS_MAX}`);
  }
}

function checkTargetReference(problems: Problems, field: string, reference: JsonObject): void {
  for (const name of ['kind', 'name']) {
    const value = text(reference, name);
    if (value === '') problems.required(`${field}.${name}`);
    else problems.invalidEach(`${field}.${name}`, value, pathSegmentProblems(value));
  }
  const version = text(reference, 'apiVersion');
  const isCore = text(reference, 'kind') === 'ReplicationController';
  if (!isCore && !version.includes('/')) {
    problems.invalid(`${field}.apiVersion`, version, 'apiVersion must specify API group');
  }
}

function checkMetric(problems: Problems, field: string, metric: JsonObject): void {
  const type = text(metric, 'type');
  if (type === '') problems.required(`${field}.type`, 'must specify a metric source type');
  if (!METRIC_TYPES.includes(type)) {
    // Said twice by kube-apiserver, too.
    problems.unsupported(`${field}.type`, type, METRIC_TYPES);
    problems.unsupported(`${field}.type`, type, METRIC_TYPES);
  }
  const name = type.charAt(0).toLowerCase() + type.slice(1);
  const present = METRIC_TYPES.map((each) => each.charAt(0).toLowerCase() + each.slice(1)).filter((each) =>
    has(metric, each),
  );
  if (METRIC_TYPES.includes(type) && !present.includes(name)) problems.required(`${field}.${name}`, SOURCE_MISSING);
  for (const other of present.filter((each) => each !== name)) {
    problems.forbidden(`${field}.${other}`, 'must populate the given metric source only');
  }
  const source = child(metric, name);
  if (source !== undefined) checkMetricSource(problems, `${field}.${name}`, source, name);
}

function checkMetricSource(problems: Problems, field: string, source: JsonObject, name: string): void {
  const isResource = name === 'resource' || name === 'containerResource';
  if (isResource && text(source, 'name') === '') problems.required(`${field}.name`, 'must specify a resource name');
  const target = child(source, 'target') ?? {};
  const type = text(target, 'type');
  if (type === '') problems.required(`${field}.target.type`, 'must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    problems.invalid(`${field}.target.type`, type, 'must be either Utilization, Value, or AverageValue');
  }
  for (const each of ['value', 'averageValue']) {
    const amount = amountOf(target[each]);
    if (amount !== undefined && amount.billionths <= 0n) {
      problems.invalid(`${field}.target.${each}`, target[each], 'must be positive');
    }
  }
  const utilization = number(target, 'averageUtilization');
  if (utilization !== undefined && utilization < 1) {
    problems.invalid(`${field}.target.averageUtilization`, utilization, 'must be greater than 0');
  }
  if (!isResource) return;
  if (utilization === undefined && !has(target, 'averageValue')) {
    const rule = 'must set either a target raw value or a target utilization';
    problems.required(`${field}.target.averageUtilization`, rule);
  } else if (utilization !== undefined && has(target, 'averageValue')) {
    const rule = 'may not set both a target raw value and a target utilization';
    problems.forbidden(`${field}.target.averageValue`, rule);
  }
}

const SCALERS: KindRules = {
  // The old version has one number for what is a metric in the newer.
  prepareForCreate: (scaler) => {
    const spec = child(scaler, 'spec');
    if (
      text(scaler, 'apiVersion') === 'autoscaling/v1' &&
      spec !== undefined &&
      !has(spec, 'targetCPUUtilizationPercentage')
    ) {
      spec['targetCPUUtilizationPercentage'] = 80;
    }
  },
  validate: (scaler, problems) => checkScaler(scaler, problems),
  parts: {
    status: {
      validateUpdate: (scaler, _live, problems) => {
        const status = child(scaler, 'status');
        for (const name of ['currentReplicas', 'desiredReplicas']) {
          problems.nonNegative(`status.${name}`, number(status, name));
        }
      },
    },
  },
};

export const POLICY_RULES: KindRulesTable = {
  '/resourcequotas': QUOTAS,
  '/limitranges': { createsOnUpdate: true, validate: (range, problems) => checkLimits(range, problems) },
  'policy/poddisruptionbudgets': BUDGETS,
  'autoscaling/horizontalpodautoscalers': SCALERS,
};
