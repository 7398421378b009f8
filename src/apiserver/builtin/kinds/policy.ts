import type { JsonObject } from '../../../kube/json.js';
import { amountOf, compareAmounts, type QuantityMap, quantities } from '../amounts.js';
import { labelKeyProblems, pathSegmentProblems } from '../built-in-formats.js';
import { child, eachObject, fill, has, number, objects, specOf, text, texts } from '../fields.js';
import { type KindRules, type KindRulesTable, type RuleContext, specChanges } from '../kind-rules.js';
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

/** Whether a quota with this scope may limit this resource; of BestEffort pods only their number can be limited. */
function isScopeOf(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods';
  if (scope === 'VolumeAttributesClass') return /^(requests\.storage|persistentvolumeclaims)$/.test(resource);
  return SCOPES.includes(scope) ? OF_PODS.test(resource) : true;
}

function checkQuotaAmounts(problems: Problems, field: string, amounts: QuantityMap): void {
  for (const [name, amount] of amounts) {
    checkQuotaResourceName(problems, `${field}[${name}]`, name);
    checkResourceAmount(problems, `${field}[${name}]`, name, amount);
  }
}

function checkQuota(quota: JsonObject, problems: Problems): void {
  const spec = child(quota, 'spec');
  const hard = quantities(spec, 'hard');
  checkQuotaAmounts(problems, 'spec.hard', hard);
  const scopes = texts(spec, 'scopes');
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) problems.invalid('spec.scopes', scopes, 'unsupported scope');
    for (const name of [...hard.keys()].sort()) {
      if (isQuotaResource(name) && !isScopeOf(scope, name)) {
        problems.invalid('spec.scopes', scopes, 'unsupported scope applied to resource');
      }
    }
  }
  for (const scope of ['BestEffort', 'Terminating']) {
    const isConflict = scopes.includes(scope) && scopes.includes(`Not${scope}`);
    if (isConflict) problems.invalid('spec.scopes', scopes, 'conflicting scopes');
  }
}

const QUOTAS: KindRules = {
  validate: checkQuota,
  parts: {
    status: {
      validateUpdate: (quota, _live, problems) => {
        for (const list of ['hard', 'used']) {
          checkQuotaAmounts(problems, `status.${list}`, quantities(child(quota, 'status'), list));
        }
      },
    },
  },
};

function checkLimits(range: JsonObject, problems: Problems): void {
  const types = new Set<string>();
  for (const [field, item] of eachObject(child(range, 'spec'), 'spec', 'limits')) {
    const type = text(item, 'type');
    const found = labelKeyProblems(type);
    problems.invalidEach(`${field}.type`, type, found);
    if (found.length === 0 && !type.includes('/') && !['Pod', 'Container', 'PersistentVolumeClaim'].includes(type)) {
      problems.invalid(`${field}.type`, type, 'must be a standard limit type or fully qualified');
    }
    problems.unique(`${field}.type`, type, types);
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
  const complain = (list: string, value: string | undefined, rule: string): void =>
    problems.invalid(`${field}.${list}[${name}]`, value, rule);
  if (isMore(min, max)) complain('min', min, `min value ${min} is greater than max value ${max}`);
  if (isMore(min, request)) {
    complain('defaultRequest', request, `min value ${min} is greater than default request value ${request}`);
  }
  if (isMore(request, max)) {
    complain('defaultRequest', request, `default request value ${request} is greater than max value ${max}`);
  }
  if (isMore(request, usual)) {
    complain(
      'defaultRequest',
      request,
      `default request value ${request} is greater than default limit value ${usual}`,
    );
  }
  if (isMore(min, usual)) complain('default', min, `min value ${min} is greater than default value ${usual}`);
  if (isMore(usual, max)) complain('default', max, `default value ${usual} is greater than max value ${max}`);
  if (!isOvercommitAllowed(name) && (isMore(usual, request) || isMore(request, usual))) {
    const rule = `default value ${usual} must equal to defaultRequest value ${request} in ${name}`;
    complain('defaultRequest', request, rule);
  }
}

const BUDGETS: KindRules = {
  updatesUnconditionally: false,
  generationChanges: specChanges,
  validate: (budget, problems) => {
    const spec = specOf(budget);
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
    problems.optionalOneOf(spec, 'spec', 'unhealthyPodEvictionPolicy', ['AlwaysAllow', 'IfHealthyBudget']);
  },
  parts: {
    status: {
      validateUpdate: (budget, _live, problems) => {
        const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];
        problems.nonNegativeMembers(child(budget, 'status'), 'status', ...counts);
      },
    },
  },
};

const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const SOURCE_MISSING = 'must populate information for the given metric source';

function checkScaler(scaler: JsonObject, problems: Problems, { surface: { minor } }: RuleContext): void {
  const spec = specOf(scaler);
  const min = number(spec, 'minReplicas');
  const max = number(spec, 'maxReplicas') ?? 0;
  // Scaling to zero replicas is on by default from 1.37.
  const least = minor >= 37 ? 0 : 1;
  if (min !== undefined && min < least) {
    problems.invalid('spec.minReplicas', min, `must be greater than or equal to ${least}`);
  }
  if (minor < 36) {
    if (max < 1) problems.invalid('spec.maxReplicas', max, 'must be greater than 0');
  } else if (max === 0) {
    if (minor < 37) problems.required('spec.maxReplicas', 'must be set and greater than 0');
  } else if (max < 0) problems.invalid('spec.maxReplicas', max, 'must be greater than or equal to 1');
  if (min !== undefined && max < min) {
    problems.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`');
  }
  checkTargetReference(problems, 'spec.scaleTargetRef', child(spec, 'scaleTargetRef') ?? {});
  const metrics = objects(spec, 'metrics');
  for (const [path, metric] of eachObject(spec, 'spec', 'metrics')) checkMetric(problems, path, metric, minor);
  const reachesZero = metrics.some((metric) => ['Object', 'External'].includes(text(metric, 'type')));
  checkBehavior(problems, 'spec.behavior', child(spec, 'behavior'));
  if (min === 0 && !reachesZero) {
    const rule = 'must specify at least one Object or External metric to support scaling to zero replicas';
    problems.forbidden('spec.metrics', rule);
  }
  // A generated rule, which comes after the others.
  if (minor >= 37 && max === 0) problems.required('spec.maxReplicas');
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
    problems.optionalOneOf(rules, path, 'selectPolicy', ['Disabled', 'Max', 'Min']);
    if (objects(rules, 'policies').length === 0) {
      problems.required(`${path}.policies`, 'must specify at least one Policy');
    }
    for (const [place, policy] of eachObject(rules, path, 'policies')) checkScalingPolicy(problems, place, policy);
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
    problems.requiredFormat(`${field}.${name}`, text(reference, name), pathSegmentProblems);
  }
  const version = text(reference, 'apiVersion');
  if (text(reference, 'kind') !== 'ReplicationController' && !version.includes('/')) {
    problems.invalid(`${field}.apiVersion`, version, 'apiVersion must specify API group');
  }
}

function checkMetric(problems: Problems, field: string, metric: JsonObject, minor: number): void {
  const type = text(metric, 'type');
  if (type === '') problems.required(`${field}.type`, 'must specify a metric source type');
  if (!METRIC_TYPES.includes(type)) {
    problems.unsupported(`${field}.type`, type, METRIC_TYPES);
    // Versions before 1.37 report this problem twice.
    if (minor < 37) problems.unsupported(`${field}.type`, type, METRIC_TYPES);
  }
  const memberOf = (metricType: string): string => metricType.charAt(0).toLowerCase() + metricType.slice(1);
  const name = memberOf(type);
  const present = METRIC_TYPES.map(memberOf).filter((each) => has(metric, each));
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
  generationChanges: specChanges,
  generationFrom: 37,
  // autoscaling/v1 has one number in place of the default metric of v2.
  prepareForCreate: (scaler) => {
    const spec = child(scaler, 'spec');
    const isOld = text(scaler, 'apiVersion') === 'autoscaling/v1';
    if (isOld && spec !== undefined) fill(spec, { targetCPUUtilizationPercentage: 80 });
  },
  validate: checkScaler,
  parts: {
    status: {
      validateUpdate: (scaler, _live, problems) =>
        problems.nonNegativeMembers(child(scaler, 'status'), 'status', 'currentReplicas', 'desiredReplicas'),
    },
  },
};

export const POLICY_RULES: KindRulesTable = {
  '/resourcequotas': QUOTAS,
  '/limitranges': { createsOnUpdate: true, validate: checkLimits },
  'policy/poddisruptionbudgets': BUDGETS,
  'autoscaling/horizontalpodautoscalers': SCALERS,
};
