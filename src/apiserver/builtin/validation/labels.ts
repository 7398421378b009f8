import type { JsonObject } from '../../../kube/json.js';
import { labelSelectorFromObject, matchesLabels, SelectorError } from '../../select/label-selector.js';
import { labelKeyProblems, labelValueProblems } from '../built-in-formats.js';
import { child, eachObject, eachText, has, objects, text, textMap, texts } from '../fields.js';
import type { Problems } from '../problems.js';

export function checkLabelName(problems: Problems, field: string, name: string): void {
  problems.format(field, name, labelKeyProblems);
}

export function checkLabels(problems: Problems, field: string, labels: Readonly<Record<string, string>>): void {
  for (const key of Object.keys(labels)) {
    checkLabelName(problems, field, key);
    problems.invalidEach(field, labels[key]!, labelValueProblems(String(labels[key])));
  }
}

export function checkLabelSelector(problems: Problems, field: string, selector: JsonObject | undefined): void {
  checkLabels(problems, `${field}.matchLabels`, textMap(selector, 'matchLabels'));
  for (const [path, each] of eachObject(selector, field, 'matchExpressions')) checkRequirement(problems, path, each);
}

/** Checks one of `matchExpressions`; with `anyValue` the values are not checked. */
export function checkRequirement(problems: Problems, field: string, each: JsonObject, anyValue = false): void {
  const count = texts(each, 'values').length;
  const operator = text(each, 'operator');
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) problems.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (count > 0) problems.forbidden(`${field}.values`, rule);
  } else problems.invalid(`${field}.operator`, operator, 'not a valid selector operator');
  checkRequirementNames(problems, field, each, anyValue);
}

/** Checks the key and the values of one of `matchExpressions`. */
export function checkRequirementNames(problems: Problems, field: string, each: JsonObject, anyValue: boolean): void {
  checkLabelName(problems, `${field}.key`, text(each, 'key'));
  if (anyValue) return;
  for (const [path, value] of eachText(each, field, 'values')) problems.format(path, value, labelValueProblems);
}

export function isEmptySelector(selector: JsonObject): boolean {
  return Object.keys(textMap(selector, 'matchLabels')).length + objects(selector, 'matchExpressions').length === 0;
}

/** Whether a selector matches labels; undefined for a malformed selector. A missing selector matches nothing. */
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
