import type { JsonObject } from '../../../kube/json.js';
import { labelSelectorFromObject, matchesLabels, SelectorError } from '../../select/label-selector.js';
import { labelKeyProblems, labelValueProblems } from '../built-in-formats.js';
import { child, has, objects, text, textMap, texts } from '../fields.js';
import type { Problems } from '../problems.js';

export function checkLabelName(problems: Problems, field: string, name: string): void {
  problems.invalidEach(field, name, labelKeyProblems(name));
}

export function checkLabels(problems: Problems, field: string, labels: Readonly<Record<string, string>>): void {
  for (const key of Object.keys(labels)) {
    checkLabelName(problems, field, key);
    problems.invalidEach(field, labels[key]!, labelValueProblems(String(labels[key])));
  }
}

export interface LabelSelectorRules {
  /** Values of what is stored already may be wrong. */
  readonly anyValue?: boolean;
}

export function checkLabelSelector(
  problems: Problems,
  field: string,
  selector: JsonObject | undefined,
  rules: LabelSelectorRules = {},
): void {
  if (selector === undefined) return;
  checkLabels(problems, `${field}.matchLabels`, textMap(selector, 'matchLabels'));
  for (const [index, each] of objects(selector, 'matchExpressions').entries()) {
    checkRequirement(problems, `${field}.matchExpressions[${index}]`, each, rules);
  }
}

function checkRequirement(problems: Problems, field: string, each: JsonObject, { anyValue }: LabelSelectorRules): void {
  const values = texts(each, 'values');
  const operator = text(each, 'operator');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      problems.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      problems.forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    problems.invalid(`${field}.operator`, operator, 'not a valid selector operator');
  }
  checkLabelName(problems, `${field}.key`, text(each, 'key'));
  if (anyValue === true) return;
  for (const [index, value] of values.entries()) {
    problems.invalidEach(`${field}.values[${index}]`, value, labelValueProblems(value));
  }
}

export function isEmptySelector(selector: JsonObject): boolean {
  return Object.keys(textMap(selector, 'matchLabels')).length + objects(selector, 'matchExpressions').length === 0;
}

/** Whether labels match; undefined where the selector is none. No selector matches nothing. */
export function selects(selector: JsonObject | undefined, labels: JsonObject | undefined): boolean | undefined {
  if (selector === undefined) return false;
  try {
    return matchesLabels(labelSelectorFromObject(selector), (labels ?? {}) as Record<string, string>);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** The labels of a template's pods, as messages print them. */
export function templateLabels(template: JsonObject | undefined): JsonObject | undefined {
  const metadata = child(template, 'metadata');
  return has(metadata, 'labels') ? child(metadata, 'labels') : undefined;
}
