import type { JsonObject } from '../../kube/json.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import { type FieldProblem, invalid, notSupported, tooLong } from '../schema/field-problems.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** The options of a writing request. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** The value in the query; empty if there is none. */
  readonly sentFieldValidation: string;
  /** Server-side apply only. */
  readonly force: boolean;
}

export const MANAGER_CHARS_MAX = 128;

/** Throws Invalid with the messages of kube-apiserver. */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
): WriteOptions {
  const problems = dryRunProblems(query.getAll('dryRun'));
  const fieldManager = query.get('fieldManager') ?? '';
  if (fieldManager.length > MANAGER_CHARS_MAX) problems.push(tooLong('fieldManager', MANAGER_CHARS_MAX));
  if (/[^\x20-\x7e\u00a1-\uffff]/u.test(fieldManager)) {
    problems.push(invalid('fieldManager', fieldManager, 'should only contain printable characters'));
  }
  const fieldValidation = query.get('fieldValidation') ?? '';
  const known = ['', 'Ignore', 'Strict', 'Warn'];
  if (!known.includes(fieldValidation)) problems.push(notSupported('fieldValidation', fieldValidation, known));
  refuseOptions(kind, problems);
  return {
    dryRun: query.has('dryRun'),
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    sentFieldValidation: fieldValidation,
    force: isTrue(query.get('force')),
  };
}

export function dryRunProblems(values: readonly string[]): FieldProblem[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', [...values], ['All'])];
}

/** Throws Invalid if there are problems. */
export function refuseOptions(kind: string, problems: readonly FieldProblem[]): void {
  refuseInvalid({ group: 'meta.k8s.io', kind }, '', problems);
}

/** Returns the options for admission. A patch is an update or a create there: no webhook sees PatchOptions. */
export function optionsObject(kind: 'CreateOptions' | 'UpdateOptions', options: WriteOptions): JsonObject {
  const object: JsonObject = { kind, apiVersion: 'meta.k8s.io/v1' };
  if (options.dryRun) object['dryRun'] = ['All'];
  if (options.fieldManager !== '') object['fieldManager'] = options.fieldManager;
  if (options.sentFieldValidation !== '') object['fieldValidation'] = options.sentFieldValidation;
  return object;
}

export function isTrue(value: string | null): boolean {
  return value !== null && ['', '1', 't', 'true', 'T', 'TRUE', 'True'].includes(value);
}
