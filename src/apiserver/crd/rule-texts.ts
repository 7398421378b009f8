import { isObject, type JsonObject, member } from '../../kube/json.js';
import { type FieldProblem, invalid, notSupported, required } from '../schema/field-problems.js';
import { listIn, textIn } from './definition.js';
import { findField } from './field-path.js';
import { unsupportedText } from './structural.js';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const LINE_BREAK = /[\n\r]/;

/** Validates `x-kubernetes-validations` without compiling their expressions. */
export function ruleTextProblems(node: JsonObject, path: string): FieldProblem[] {
  return listIn(node, 'x-kubernetes-validations').flatMap((each, index) =>
    isObject(each) ? problemsOf(each, node, `${path}.x-kubernetes-validations[${index}]`) : [],
  );
}

function problemsOf(each: JsonObject, node: JsonObject, field: string): FieldProblem[] {
  const expression = textIn(each, 'messageExpression');
  const reason = member(each, 'reason');
  return [
    ...messageProblems(each, field),
    ...(expression !== '' && expression.trim() === ''
      ? [required(`${field}.messageExpression`, 'messageExpression must be non-empty if specified')]
      : []),
    ...(typeof reason === 'string' && !REASONS.includes(reason)
      ? [notSupported(`${field}.reason`, reason, REASONS)]
      : []),
    ...fieldPathProblems(textIn(each, 'fieldPath'), node, `${field}.fieldPath`),
  ];
}

function messageProblems(each: JsonObject, field: string): FieldProblem[] {
  const rule = textIn(each, 'rule').trim();
  const message = textIn(each, 'message');
  if (rule === '') return [required(`${field}.rule`, 'rule is not specified')];
  if (message !== '' && message.trim() === '') {
    return [invalid(`${field}.message`, message, 'must be non-empty if specified')];
  }
  if (LINE_BREAK.test(message.trim())) return [invalid(`${field}.message`, message, 'must not contain line breaks')];
  if (LINE_BREAK.test(rule) && message.trim() === '') {
    return [required(`${field}.message`, 'message must be specified if rule contains line breaks')];
  }
  return [];
}

function fieldPathProblems(fieldPath: string, node: JsonObject, field: string): FieldProblem[] {
  if (fieldPath === '') return [];
  const isLost = unsupportedText(node) === undefined && typeof findField(fieldPath, node, true) === 'string';
  return [
    ...(fieldPath.trim() === '' ? [invalid(field, fieldPath, 'must be non-empty if specified')] : []),
    ...(LINE_BREAK.test(fieldPath) ? [invalid(field, fieldPath, 'must not contain line breaks')] : []),
    ...(isLost ? [invalid(field, fieldPath, 'must be a valid path')] : []),
  ];
}
