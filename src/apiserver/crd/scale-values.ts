import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import type { ScalePaths } from '../registry/resource-type.js';
import { type FieldProblem, invalid } from '../schema/field-problems.js';
import { goText } from '../values/go-text.js';

const REPLICAS_MAX = 2 ** 31 - 1;

/** Validates the values at the paths of the scale subresource. */
export function scaleSpecProblems(object: JsonObject, paths: ScalePaths): FieldProblem[] {
  return replicaProblems(object, paths.specReplicas);
}

export function scaleStatusProblems(object: JsonObject, paths: ScalePaths): FieldProblem[] {
  const problems = replicaProblems(object, paths.statusReplicas);
  const { labelSelector } = paths;
  if (labelSelector === undefined) return problems;
  const { value, defect } = find(object, labelSelector, (found) => typeof found === 'string', 'string');
  if (defect === undefined || value === undefined) return problems;
  return [...problems, invalid(`.${labelSelector}`, '', defect)];
}

function replicaProblems(object: JsonObject, path: string): FieldProblem[] {
  const { value, defect } = find(object, path, Number.isInteger, 'int64');
  const field = `.${path}`;
  if (defect !== undefined) return [invalid(field, 0, defect)];
  if (typeof value !== 'number') return [];
  if (value < 0) return [invalid(field, value, 'should be a non-negative integer')];
  return value > REPLICAS_MAX ? [invalid(field, value, `should be less than or equal to ${REPLICAS_MAX}`)] : [];
}

interface Found {
  readonly value?: Json;
  readonly defect?: string;
}

function find(object: JsonObject, path: string, fits: (value: Json) => boolean, wanted: string): Found {
  const names = path.split('.');
  let value: Json = object;
  for (const [index, name] of names.entries()) {
    if (value === null) return {};
    if (!isObject(value)) {
      const at = `.${names.slice(0, index + 1).join('.')}`;
      return {
        value,
        defect: `${at} accessor error: ${goText(value)} is of the type ${goType(value)}, expected map[string]interface{}`,
      };
    }
    const next = member(value, name);
    if (next === undefined) return {};
    value = next;
  }
  if (fits(value)) return { value };
  return {
    value,
    defect: `.${path} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${wanted}`,
  };
}

function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
