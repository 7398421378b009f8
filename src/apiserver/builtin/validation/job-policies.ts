import type { JsonObject } from '../../../kube/json.js';
import { child, eachObject, has, number, objects, text } from '../fields.js';
import type { Problems } from '../problems.js';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;

/** Checks the actions of a job for pods that fail. */
export function checkFailurePolicy(problems: Problems, field: string, spec: JsonObject): void {
  const rules = objects(child(spec, 'podFailurePolicy'), 'rules');
  if (rules.length > RULES_MAX) problems.tooMany(`${field}.rules`, rules.length, RULES_MAX);
  const pod = child(child(spec, 'template'), 'spec');
  const names = new Set(
    [...objects(pod, 'containers'), ...objects(pod, 'initContainers')].map((each) => text(each, 'name')),
  );
  for (const [path, rule] of eachObject(child(spec, 'podFailurePolicy'), field, 'rules')) {
    checkAction(problems, `${path}.action`, text(rule, 'action'), has(spec, 'backoffLimitPerIndex'));
    const exits = child(rule, 'onExitCodes');
    if (exits !== undefined) checkExitCodes(problems, `${path}.onExitCodes`, exits, names);
    const conditions = objects(rule, 'onPodConditions');
    for (const [place, condition] of eachObject(rule, path, 'onPodConditions')) {
      problems.oneOf(`${place}.status`, text(condition, 'status'), ['False', 'True', 'Unknown']);
    }
    if (exits !== undefined && conditions.length > 0) {
      problems.invalidWhole(path, 'specifying both OnExitCodes and OnPodConditions is not supported');
    } else if (exits === undefined && conditions.length === 0) {
      problems.invalidWhole(path, 'specifying one of OnExitCodes and OnPodConditions is required');
    }
  }
}

function checkAction(problems: Problems, field: string, action: string, isPerIndex: boolean): void {
  if (action === '') {
    problems.required(field, `valid values: [${ACTIONS.map((each) => JSON.stringify(each)).join(' ')}]`);
  } else if (action === 'FailIndex') {
    if (!isPerIndex) problems.invalid(field, action, 'requires the backoffLimitPerIndex to be set');
  } else problems.oneOf(field, action, ACTIONS);
}

function checkExitCodes(problems: Problems, field: string, exits: JsonObject, names: ReadonlySet<string>): void {
  const operator = text(exits, 'operator');
  if (operator === '') problems.required(`${field}.operator`, 'valid values: ["In" "NotIn"]');
  else problems.oneOf(`${field}.operator`, operator, ['In', 'NotIn']);
  const container = text(exits, 'containerName');
  if (container !== '' && !names.has(container)) {
    const rule = 'must be one of the container or initContainer names in the pod template';
    problems.invalid(`${field}.containerName`, container, rule);
  }
  const given = exits['values'];
  const codes = Array.isArray(given) ? given.map(Number) : [];
  if (codes.length === 0) problems.invalid(`${field}.values`, [], 'at least one value is required');
  else if (codes.length > EXIT_CODES_MAX) problems.tooMany(`${field}.values`, codes.length, EXIT_CODES_MAX);
  const seen = new Set<number>();
  for (const [index, code] of codes.entries()) {
    const path = `${field}.values[${index}]`;
    if (operator === 'In' && code === 0) problems.invalid(path, code, 'must not be 0 for the In operator');
    problems.unique(path, code, seen);
  }
  const isOrdered = codes.every((code, index) => index === 0 || codes[index - 1]! <= code);
  if (!isOrdered) problems.invalid(`${field}.values`, codes, 'must be ordered');
}

/** Checks the rules by which an indexed job is complete early. */
export function checkSuccessPolicy(problems: Problems, field: string, spec: JsonObject): void {
  const policy = child(spec, 'successPolicy');
  if (policy === undefined || text(spec, 'completionMode') !== 'Indexed') return;
  const rules = objects(policy, 'rules');
  const completions = number(spec, 'completions') ?? 0;
  if (rules.length === 0) {
    const rule = 'at least one rules must be specified when the successPolicy is specified';
    problems.required(`${field}.rules`, rule);
  }
  if (rules.length > RULES_MAX) problems.tooMany(`${field}.rules`, rules.length, RULES_MAX);
  for (const [path, rule] of eachObject(policy, field, 'rules')) {
    const count = number(rule, 'succeededCount');
    if (count === undefined && !has(rule, 'succeededIndexes')) {
      problems.required(path, 'at least one of succeededCount or succeededIndexes must be specified');
    }
    if (count === undefined) continue;
    problems.nonNegative(`${path}.succeededCount`, count);
    if (count > completions) {
      const limit = `must be less than or equal to ${completions} (the number of specified completions)`;
      problems.invalid(`${path}.succeededCount`, count, limit);
    }
  }
}
