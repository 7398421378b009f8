import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { FieldProblem } from '../schema/validate.js';
import { formatProblems } from '../schema/validate.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What a writing request says besides its object. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** As the client sent it; empty where it did not. */
  readonly sentFieldValidation: string;
  /** Server-side apply only. */
  readonly force: boolean;
}

const MANAGER_CHARS_MAX = 128;

/** Throws Invalid with kube-apiserver's words. */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
): WriteOptions {
  const problems: FieldProblem[] = [...dryRunProblems(query.getAll('dryRun'))];
  const fieldManager = query.get('fieldManager') ?? '';
  if (fieldManager.length > MANAGER_CHARS_MAX) {
    problems.push(
      invalid('FieldValueTooLong', 'fieldManager', `Too long: may not be more than ${MANAGER_CHARS_MAX} bytes`),
    );
  }
  if (/[^\x20-\x7e\u00a1-\uffff]/u.test(fieldManager)) {
    problems.push(
      invalid(
        'FieldValueInvalid',
        'fieldManager',
        `Invalid value: ${JSON.stringify(fieldManager)}: should only contain printable characters`,
      ),
    );
  }
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    const text = `Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: "", "Ignore", "Strict", "Warn"`;
    problems.push(invalid('FieldValueNotSupported', 'fieldValidation', text));
  }
  if (problems.length > 0) throw invalidOptions(kind, problems);
  return {
    dryRun: query.has('dryRun'),
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    sentFieldValidation: fieldValidation,
    force: isTrue(query.get('force')),
  };
}

export function dryRunProblems(values: readonly string[]): FieldProblem[] {
  const bad = values.filter((value) => value !== 'All');
  if (bad.length === 0) return [];
  const text = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return [invalid('FieldValueNotSupported', 'dryRun', text)];
}

export function invalidOptions(kind: string, problems: readonly FieldProblem[]): StatusError {
  const message = `${kind}.meta.k8s.io "" is invalid: ${formatProblems(problems)}`;
  return new StatusError('Invalid', message, { group: 'meta.k8s.io', kind, causes: problems });
}

/** The options as admission sees them. A patch is an update or a create there; PatchOptions never reach a webhook. */
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

function invalid(reason: string, field: string, message: string): FieldProblem {
  return { reason, field, message };
}
