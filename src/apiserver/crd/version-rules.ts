import type { JsonObject } from '../../kube/json.js';
import { duplicate, type FieldProblem, invalid, invalidText, required, tooMany } from '../schema/field-problems.js';
import { goJson } from '../schema/go-values.js';
import { type DefinitionVersion, objectIn, textIn } from './definition.js';
import { findField } from './field-path.js';

export const SELECTABLE_FIELDS_MAX = 8;
const WARNING_LENGTH_MAX = 256;
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function deprecationProblems(version: DefinitionVersion, field: string): FieldProblem[] {
  const { deprecationWarning: warning, isDeprecated } = version;
  if (warning === undefined) return [];
  return warningTexts(warning, isDeprecated).map((text) => invalidText(field, goJson(warning), text));
}

function warningTexts(warning: string, isDeprecated: boolean): string[] {
  if (!isDeprecated) return ['can only be set for deprecated versions'];
  const texts: string[] = [];
  if (Buffer.byteLength(warning) > WARNING_LENGTH_MAX) texts.push(`must be <= ${WARNING_LENGTH_MAX} characters long`);
  if (warning === '') texts.push('must not be an empty string');
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd !== null) {
    const index = Buffer.byteLength(warning.slice(0, odd.index));
    const what = 'must only contain printable UTF-8 characters; non-printable character found at index';
    texts.push(`${what} ${index}`);
  }
  return texts;
}

export function subresourceProblems(subresources: JsonObject | undefined, field: string): FieldProblem[] {
  const scale = subresources === undefined ? undefined : objectIn(subresources, 'scale');
  if (scale === undefined) return [];
  const selector = textIn(scale, 'labelSelectorPath');
  return [
    ...scalePathProblems(textIn(scale, 'specReplicasPath'), `${field}.scale.specReplicasPath`, ['.spec']),
    ...scalePathProblems(textIn(scale, 'statusReplicasPath'), `${field}.scale.statusReplicasPath`, ['.status']),
    ...(selector === '' ? [] : scalePathProblems(selector, `${field}.scale.labelSelectorPath`, ['.spec', '.status'])),
  ];
}

function scalePathProblems(path: string, field: string, roots: readonly string[]): FieldProblem[] {
  if (path === '') return [required(field)];
  if (!path.startsWith('.')) return [invalid(field, path, 'must be a simple json path starting with .')];
  if (roots.some((root) => path.startsWith(`${root}.`))) return [];
  const where = roots.length === 1 ? roots[0]! : `either ${roots.join(' or ')}`;
  return [invalid(field, path, `should be a json path under ${where}`)];
}

export function columnProblems(columns: readonly JsonObject[], field: string): FieldProblem[] {
  return columns.flatMap((column, index) => {
    const at = `${field}[${index}]`;
    const [type, format, path] = [textIn(column, 'type'), textIn(column, 'format'), textIn(column, 'jsonPath')];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    const problems: FieldProblem[] = [];
    if (textIn(column, 'name') === '') problems.push(required(`${at}.name`));
    if (type === '') problems.push(required(`${at}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) problems.push(invalid(`${at}.type`, type, types));
    if (format !== '' && !COLUMN_FORMATS.includes(format)) {
      problems.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    if (path === '') problems.push(required(`${at}.JSONPath`));
    else if (!path.startsWith('.')) {
      problems.push(invalid(`${at}.JSONPath`, path, 'must be a simple json path starting with .'));
    }
    return problems;
  });
}

export function selectableFieldProblems(
  paths: readonly string[],
  openApi: JsonObject,
  field: string,
  allowsTooMany: boolean,
): FieldProblem[] {
  const seen = new Set<string>();
  const problems = paths.flatMap((path, index) =>
    selectablePathProblems(path, openApi, `${field}[${index}].jsonPath`, seen),
  );
  if (seen.size > SELECTABLE_FIELDS_MAX && !allowsTooMany) {
    problems.push(tooMany(field, seen.size, SELECTABLE_FIELDS_MAX));
  }
  return problems;
}

function selectablePathProblems(path: string, openApi: JsonObject, field: string, seen: Set<string>): FieldProblem[] {
  if (path === '') return [required(field)];
  const found = findField(path, openApi, false);
  if (typeof found === 'string') return [invalid(field, path, `is an invalid path: ${found}`)];
  const problems: FieldProblem[] = [];
  if (found.root === 'metadata') problems.push(invalid(field, path, 'must not point to fields in metadata'));
  const type = found.openApi === undefined ? '' : textIn(found.openApi, 'type');
  if (!['string', 'boolean', 'integer'].includes(type)) {
    const wanted = 'must point to a field of type string, boolean or integer.';
    problems.push(invalid(field, path, `${wanted} Enum string fields and strings with formats are allowed.`));
  }
  if (seen.has(found.path)) problems.push(duplicate(field, path));
  seen.add(found.path);
  return problems;
}
