import { isObject, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { type FieldProblem, notSupported } from '../schema/field-problems.js';
import { goJsonKind } from '../values/go-text.js';
import type { ApiCall } from './api-call.js';
import { bodyEncoding, parseDocument } from './decode.js';
import { dryRunProblems, isTrue, refuseOptions } from './options.js';
import { readRequestBody } from './read-body.js';

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly preconditions: { readonly uid: string | undefined; readonly resourceVersion: string | undefined };
  readonly dryRun: boolean;
  /** The options for admission. */
  readonly object: JsonObject;
  /** Admission has taken place for another object: an Eviction. */
  readonly isAdmitted?: boolean;
}

/** Reads the options from the body, or from the query if there is no body. */
export async function deleteOptions(call: ApiCall): Promise<DeleteOptions> {
  const body = await readRequestBody(call.exchange);
  if (body.byteLength === 0) return readDeleteOptions(fromQuery(call.query));
  const document = parseDocument(body, bodyEncoding(call.exchange), "couldn't get version/kind");
  if (!isObject(document)) throw new StatusError('BadRequest', 'decoded object cannot be converted to DeleteOptions');
  const { kind } = document;
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw new StatusError(
      'BadRequest',
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(document['apiVersion'] ?? '')}`,
    );
  }
  return readDeleteOptions(document);
}

function fromQuery(query: URLSearchParams): JsonObject {
  const options: JsonObject = {};
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null) {
    if (!/^-?\d{1,15}$/.test(grace)) {
      throw new StatusError('BadRequest', `strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
    }
    options['gracePeriodSeconds'] = Number(grace);
  }
  const policy = query.get('propagationPolicy');
  if (policy !== null) options['propagationPolicy'] = policy;
  if (query.has('orphanDependents')) options['orphanDependents'] = isTrue(query.get('orphanDependents'));
  if (query.has('dryRun')) options['dryRun'] = query.getAll('dryRun');
  return options;
}

const TYPES: Readonly<Record<string, readonly [found: (value: unknown) => boolean, goType: string]>> = {
  gracePeriodSeconds: [(value) => Number.isInteger(value), 'int64'],
  propagationPolicy: [(value) => typeof value === 'string', 'v1.DeletionPropagation'],
  orphanDependents: [(value) => typeof value === 'boolean', 'bool'],
  preconditions: [isObject, 'v1.Preconditions'],
  dryRun: [Array.isArray, '[]string'],
};

function checkTypes(document: JsonObject): void {
  for (const [name, [fits, goType]] of Object.entries(TYPES)) {
    const value = document[name];
    if (value === undefined || value === null || fits(value)) continue;
    throw new StatusError(
      'BadRequest',
      `json: cannot unmarshal ${goJsonKind(value)} into Go struct field DeleteOptions.${name} of type ${goType}`,
    );
  }
}

/** Throws Invalid for contradicting options, BadRequest for options of a wrong type. */
export function readDeleteOptions(document: JsonObject): DeleteOptions {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, dryRun, preconditions } = document;
  checkTypes(document);
  const problems: FieldProblem[] = [];
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const message = 'Invalid value: orphanDependents and deletionPropagation cannot be both set';
    problems.push({ reason: 'FieldValueInvalid', field: 'propagationPolicy', message });
  }
  if (propagationPolicy !== undefined && !['Orphan', 'Background', 'Foreground'].includes(String(propagationPolicy))) {
    const known = ['Foreground', 'Background', 'Orphan', 'nil'];
    problems.push(notSupported('propagationPolicy', propagationPolicy, known));
  }
  const dryRuns = Array.isArray(dryRun) ? dryRun.map(String) : [];
  refuseOptions('DeleteOptions', [...problems, ...dryRunProblems(dryRuns)]);
  const conditions = isObject(preconditions) ? preconditions : {};
  return {
    gracePeriodSeconds: typeof gracePeriodSeconds === 'number' ? gracePeriodSeconds : undefined,
    propagationPolicy: policyOf(propagationPolicy, orphanDependents),
    preconditions: {
      uid: typeof conditions['uid'] === 'string' ? conditions['uid'] : undefined,
      resourceVersion: typeof conditions['resourceVersion'] === 'string' ? conditions['resourceVersion'] : undefined,
    },
    dryRun: dryRuns.length > 0,
    object: { ...document, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  };
}

function policyOf(policy: unknown, orphanDependents: unknown): PropagationPolicy | undefined {
  if (typeof policy === 'string') return policy as PropagationPolicy;
  if (orphanDependents === undefined || orphanDependents === null) return undefined;
  return orphanDependents === true ? 'Orphan' : 'Background';
}
