import { groupVersion } from '../../../kube/gvr.js';
import { isObject, type Json, type JsonObject } from '../../../kube/json.js';
import { applyJsonPatch, type JsonPatchOperation, parseJsonPatch } from '../../patch/json-patch.js';
import { PatchError } from '../../patch/json-patch-error.js';
import { goDecodeProblem } from '../../schema/go-decode.js';
import { goSyntaxProblem } from './decode-answer.js';
import type { Invocation } from './invocation.js';
import type { WebhookDeps } from './webhook-deps.js';
import { internalError, unexplainedError, WebhookCallError } from './webhook-errors.js';

/** Parses a patch. Throws WebhookCallError for a malformed one, so `failurePolicy` decides. */
export function decodePatch(webhookName: string, patch: string): readonly JsonPatchOperation[] {
  const undecodable = (problem: string) =>
    new WebhookCallError(webhookName, `received undecodable patch in webhook response: ${problem}`);
  let document: Json;
  try {
    document = JSON.parse(patch) as Json;
  } catch {
    throw undecodable(goSyntaxProblem(patch));
  }
  try {
    return parseJsonPatch(document).operations;
  } catch (error) {
    const problem = (error as Error).message.replace(/^error decoding patch: /, '');
    throw undecodable(problem.replace('[]handlers.jsonPatchOp', 'jsonpatch.Patch'));
  }
}

/** Applies a patch. Throws StatusError, whatever the failure policy, if that fails. */
export function patchObject(
  deps: WebhookDeps,
  invocation: Invocation,
  object: JsonObject,
  operations: readonly JsonPatchOperation[],
): JsonObject {
  let patched: Json;
  try {
    patched = applyJsonPatch(object, operations);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw internalError(applyProblem(object, operations, error));
  }
  if (!isObject(patched)) throw internalError('the patched document is not an object');
  const result = withKind(deps, invocation, patched);
  if (invocation.type.origin === 'built-in' && invocation.kind.kind === invocation.type.kind) {
    const problem = goDecodeProblem(result, invocation.type.schema);
    if (problem !== undefined) throw internalError(problem);
  }
  return result;
}

/** Restores a removed kind, and refuses another one. */
function withKind(deps: WebhookDeps, { kind }: Invocation, patched: JsonObject): JsonObject {
  const apiVersion = groupVersion(kind.group, kind.version);
  const given = { apiVersion: patched['apiVersion'] ?? apiVersion, kind: patched['kind'] ?? kind.kind };
  if (given.apiVersion === apiVersion && given.kind === kind.kind) return { ...patched, ...given };
  const [otherVersion, otherKind] = [String(given.apiVersion), String(given.kind)];
  if (deps.isKnownKind?.(otherVersion, otherKind) === true) {
    const group = kind.group === '' ? 'core' : kind.group.split('.')[0];
    const other = otherVersion.split('/').at(-1);
    throw unexplainedError(`converting (${other}.${otherKind}) to (${group}.${kind.kind}): unknown conversion`);
  }
  throw internalError(
    `no kind "${otherKind}" is registered for version "${otherVersion}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** Returns Go's message, which names the failed operation. */
function applyProblem(object: JsonObject, operations: readonly JsonPatchOperation[], error: PatchError): string {
  const { detail } = error;
  const failed = operations[firstFailure(object, operations)];
  const at = `error in ${failed?.op} for path: '${failed?.path}': ${detail}`;
  if (detail.startsWith('doc is missing path')) {
    return `${failed?.op} operation does not apply: ${detail}: missing value`;
  }
  if (detail.startsWith('Unable to remove nonexistent key')) return `${at}: missing value`;
  if (detail.startsWith('Unable to access invalid index')) return `${at}: invalid index referenced`;
  return detail.startsWith('testing value') ? `${detail}: test failed` : detail;
}

/** Binary search: a patch may be long, and every attempt copies the object. */
function firstFailure(object: JsonObject, operations: readonly JsonPatchOperation[]): number {
  let [applies, fails] = [0, operations.length];
  while (fails - applies > 1) {
    const middle = Math.floor((applies + fails) / 2);
    try {
      applyJsonPatch(object, operations.slice(0, middle));
      applies = middle;
    } catch {
      fails = middle;
    }
  }
  return fails - 1;
}
