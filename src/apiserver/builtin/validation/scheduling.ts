import type { JsonObject } from '../../../kube/json.js';
import { dnsLabelProblems, dnsSubdomainProblems, labelValueProblems } from '../built-in-formats.js';
import { child, eachObject, eachText, has, number, objects, text, texts } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkLabelName, checkLabelSelector, checkRequirement, checkRequirementNames } from './labels.js';

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function checkAffinity(problems: Problems, field: string, affinity: JsonObject | undefined): void {
  const node = child(affinity, 'nodeAffinity');
  if (node !== undefined) {
    const required = child(node, REQUIRED);
    if (required !== undefined) checkNodeSelector(problems, `${field}.nodeAffinity.${REQUIRED}`, required);
    for (const [path, term] of eachObject(node, `${field}.nodeAffinity`, PREFERRED)) {
      checkWeight(problems, path, term);
      checkNodeTerm(problems, `${path}.preference`, child(term, 'preference') ?? {}, true);
    }
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const pods = child(affinity, kind);
    for (const [path, term] of eachObject(pods, `${field}.${kind}`, REQUIRED)) checkPodTerm(problems, path, term);
    for (const [path, term] of eachObject(pods, `${field}.${kind}`, PREFERRED)) {
      checkWeight(problems, path, term);
      checkPodTerm(problems, `${path}.podAffinityTerm`, child(term, 'podAffinityTerm') ?? {});
    }
  }
}

function checkWeight(problems: Problems, field: string, term: JsonObject): void {
  const weight = number(term, 'weight') ?? 0;
  if (weight < 1 || weight > 100) problems.invalid(`${field}.weight`, weight, 'must be in the range 1-100');
}

export function checkNodeSelector(problems: Problems, field: string, selector: JsonObject): void {
  if (objects(selector, 'nodeSelectorTerms').length === 0) {
    problems.required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term');
  }
  for (const [path, term] of eachObject(selector, field, 'nodeSelectorTerms')) {
    checkNodeTerm(problems, path, term, false);
  }
}

function checkNodeTerm(problems: Problems, field: string, term: JsonObject, anyValue: boolean): void {
  for (const [path, each] of eachObject(term, field, 'matchExpressions')) {
    checkNodeRequirement(problems, path, each, anyValue);
  }
  for (const [path, each] of eachObject(term, field, 'matchFields')) {
    const values = texts(each, 'values');
    if (!['In', 'NotIn'].includes(text(each, 'operator'))) {
      problems.invalid(`${path}.operator`, text(each, 'operator'), 'not a valid selector operator');
    } else if (values.length !== 1) {
      const rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
      problems.required(`${path}.values`, rule);
    }
    if (text(each, 'key') !== 'metadata.name') {
      problems.invalid(`${path}.key`, text(each, 'key'), 'not a valid field selector key');
      continue;
    }
    for (const [place, value] of eachText(each, path, 'values')) problems.format(place, value, dnsSubdomainProblems);
  }
}

function checkNodeRequirement(problems: Problems, field: string, each: JsonObject, anyValue: boolean): void {
  const isComparison = ['Gt', 'Lt'].includes(text(each, 'operator'));
  if (!isComparison) {
    checkRequirement(problems, field, each, anyValue);
    return;
  }
  if (texts(each, 'values').length !== 1) {
    problems.required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
  }
  checkRequirementNames(problems, field, each, anyValue);
}

function checkPodTerm(problems: Problems, field: string, term: JsonObject): void {
  checkLabelSelector(problems, `${field}.labelSelector`, child(term, 'labelSelector'));
  checkLabelSelector(problems, `${field}.namespaceSelector`, child(term, 'namespaceSelector'));
  for (const name of texts(term, 'namespaces')) {
    problems.format(`${field}.namespace`, name, dnsLabelProblems);
  }
  const key = text(term, 'topologyKey');
  if (key === '') problems.required(`${field}.topologyKey`, 'can not be empty');
  checkLabelName(problems, `${field}.topologyKey`, key);
}

/** Checks the tolerations of a pod's spec or of a runtime class's scheduling. */
export function checkTolerations(problems: Problems, field: string, spec: JsonObject | undefined): void {
  for (const [path, each] of eachObject(spec, field, 'tolerations')) checkToleration(problems, path, each);
}

function checkToleration(problems: Problems, field: string, toleration: JsonObject): void {
  const key = text(toleration, 'key');
  const operator = text(toleration, 'operator');
  const value = text(toleration, 'value');
  const effect = text(toleration, 'effect');
  if (key !== '') checkLabelName(problems, `${field}.key`, key);
  else if (operator !== 'Exists') {
    const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    problems.invalid(`${field}.operator`, operator, rule);
  }
  if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    problems.invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === 'Equal' || operator === '') {
    const found = labelValueProblems(value);
    if (found.length > 0) problems.invalid(`${field}.operator`, value, found.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') problems.invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'");
  } else if (operator === 'Lt' || operator === 'Gt') {
    problems.unsupported(`${field}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt']);
  } else problems.unsupported(`${field}.operator`, operator, ['Equal', 'Exists']);
  if (effect !== '') problems.oneOf(`${field}.effect`, effect, TAINT_EFFECTS);
}

export function checkSpreadConstraints(problems: Problems, field: string, spec: JsonObject): void {
  const constraints = objects(spec, 'topologySpreadConstraints');
  const keyOf = (each: JsonObject): string => `{${text(each, 'topologyKey')}, ${text(each, 'whenUnsatisfiable')}}`;
  const lastAt = new Map(constraints.map((each, index) => [keyOf(each), index]));
  for (const [index, each] of constraints.entries()) {
    const path = `${field}.topologySpreadConstraints[${index}]`;
    const skew = number(each, 'maxSkew') ?? 0;
    if (skew <= 0) problems.invalid(`${path}.maxSkew`, skew, 'must be greater than zero');
    if (text(each, 'topologyKey') === '') problems.required(`${path}.topologyKey`, 'can not be empty');
    const action = text(each, 'whenUnsatisfiable');
    problems.oneOf(`${path}.whenUnsatisfiable`, action, ['DoNotSchedule', 'ScheduleAnyway']);
    if (lastAt.get(keyOf(each))! > index) {
      problems.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, keyOf(each));
    }
    const domains = number(each, 'minDomains');
    if (domains !== undefined) {
      if (domains <= 0) problems.invalid(`${path}.minDomains`, domains, 'must be greater than zero');
      if (action !== 'DoNotSchedule') {
        const rule = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
        problems.invalid(`${path}.minDomains`, domains, rule);
      }
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      if (has(each, policy)) problems.oneOf(`${path}.${policy}`, text(each, policy), ['Honor', 'Ignore']);
    }
    checkLabelSelector(problems, `${path}.labelSelector`, child(each, 'labelSelector'));
  }
}
