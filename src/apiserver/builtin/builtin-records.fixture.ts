/**
 * The answers of real servers to the requests of test/real/builtin-cases. One version is stored whole, the base
 * (builtin.recorded.json); of each other version the answers that differ from the base (builtin-1.NN.recorded.json).
 * test/real/record-builtin.ts writes both, recorded.test.ts replays them.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject, jsonEqual } from '../../kube/json.js';

export interface SetupObject {
  readonly group: string;
  readonly resource: string;
  readonly object: JsonObject;
}
export interface RecordedAnswer {
  readonly status: number;
  readonly warnings?: string;
  readonly answer: JsonObject;
}
export interface RecordedStep extends RecordedAnswer {
  readonly verb: 'create' | 'update' | 'merge';
  readonly subresource?: string;
  readonly body: JsonObject;
}
export interface RecordedCase {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly steps: readonly RecordedStep[];
}
export interface Recorded {
  /** The release, such as `v1.36.4`. */
  readonly from: string;
  readonly setup: readonly SetupObject[];
  readonly cases: readonly RecordedCase[];
}
/** What a version answers differently from the base. */
export interface RecordedDifferences {
  readonly from: string;
  readonly base: string;
  /** SHA-256 of the requests: an answer that is not listed equals that of the base only if both were asked the same. */
  readonly requests: string;
  readonly setup: readonly { readonly at: number; readonly object: JsonObject }[];
  readonly steps: readonly (RecordedAnswer & { readonly name: string; readonly step: number })[];
}

/** Stands for the identifier of every object. */
export const REPLAYED_UID = '11111111-1111-4111-8111-111111111111';
/** Members of `metadata` that the strategy of a kind does not write. */
const WRITTEN_BY_OTHERS = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'deletionTimestamp'];
const FOLDER = new URL('./', import.meta.url);
const BASE_FILE = 'builtin.recorded.json';

export function recordFile(version: string, base: Recorded): URL {
  return new URL(minorOf(base.from) === version ? BASE_FILE : `builtin-${version}.recorded.json`, FOLDER);
}

export function baseRecords(): Recorded {
  return read(BASE_FILE) as unknown as Recorded;
}

/** The records of every version that has some, by minor version (`1.36`), oldest first. */
export function recordsByVersion(): ReadonlyMap<string, Recorded> {
  const base = baseRecords();
  const others = readdirSync(FOLDER)
    .filter((name) => /^builtin-\d+\.\d+\.recorded\.json$/.test(name))
    .map((name) => withDifferences(base, read(name) as unknown as RecordedDifferences, name));
  const all = [base, ...others].map((recorded): [string, Recorded] => [minorOf(recorded.from), recorded]);
  return new Map(all.sort(([left], [right]) => Number(left.split('.')[1]) - Number(right.split('.')[1])));
}

/** The opposite of `withDifferences`. */
export function differencesOf(base: Recorded, other: Recorded): RecordedDifferences {
  return {
    from: other.from,
    base: base.from,
    requests: requestsHash(other),
    setup: other.setup.flatMap(({ object }, at) =>
      jsonEqual(comparable(object), comparable(base.setup[at]!.object)) ? [] : [{ at, object }],
    ),
    steps: other.cases.flatMap((each, index) =>
      each.steps.flatMap(({ status, warnings, answer }, step) => {
        const found = { status, ...(warnings === undefined ? {} : { warnings }), answer };
        const isSame = jsonEqual(comparableAnswer(found), comparableAnswer(base.cases[index]!.steps[step]!));
        return isSame ? [] : [{ name: each.name, step, ...found }];
      }),
    ),
  };
}

function withDifferences(base: Recorded, differences: RecordedDifferences, file: string): Recorded {
  if (differences.base !== base.from || differences.requests !== requestsHash(base)) {
    throw new Error(
      `${file} does not belong to ${BASE_FILE}: record all versions again with test/real/record-builtin.ts`,
    );
  }
  const setup = new Map(differences.setup.map(({ at, object }) => [at, object]));
  const answers = new Map(differences.steps.map(({ name, step, ...answer }) => [`${name} ${step}`, answer]));
  return {
    from: differences.from,
    setup: base.setup.map((each, at) => ({ ...each, object: setup.get(at) ?? each.object })),
    cases: base.cases.map((each) => ({
      ...each,
      steps: each.steps.map(({ verb, subresource, body, ...same }, step) => ({
        verb,
        ...(subresource === undefined ? {} : { subresource }),
        body,
        ...(answers.get(`${each.name} ${step}`) ?? same),
      })),
    })),
  };
}

function requestsHash({ cases }: Recorded): string {
  const requests = cases.map(({ steps, ...each }) => ({
    ...each,
    steps: steps.map(({ verb, subresource, body }) => ({ verb, subresource, body })),
  }));
  return createHash('sha256').update(JSON.stringify(requests)).digest('hex');
}

function comparableAnswer({ status, warnings, answer }: RecordedAnswer): Json {
  const causes = isObject(answer['details']) ? answer['details']['causes'] : undefined;
  const { message, ...rest } = answer;
  // The message of a 422 has the causes in its text, in the order of a Go map.
  return status === 422 && causes !== undefined
    ? { status, warnings: warnings ?? '', causes: comparableProblems(causes) }
    : { status, warnings: warnings ?? '', answer: comparable({ ...rest, message: message ?? '' }) };
}

/** Replaces the values that come out differently every time. */
export function comparable(value: Json): Json {
  const text = JSON.stringify(value)
    .replaceAll(REPLAYED_UID, '$UID')
    .replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-$RANDOM')
    .replaceAll(/"20\d\d-1[0-2]-\d\dT[^"]*Z"/g, '"$TIME"')
    .replaceAll(/"10\.96\.\d+\.\d+"/g, '"$ADDRESS"')
    .replaceAll(/"nodePort":3[0-2]\d{3}/g, '"nodePort":"$PORT"')
    .replaceAll(/"healthCheckNodePort":3[0-2]\d{3}/g, '"healthCheckNodePort":"$PORT"');
  const object = JSON.parse(text) as Json;
  if (!isObject(object) || !isObject(object['metadata'])) return object;
  for (const name of WRITTEN_BY_OTHERS) delete object['metadata'][name];
  // The certificate of the administrator who recorded it.
  if (object['kind'] === 'CertificateSigningRequest') delete (object['spec'] as JsonObject)['extra'];
  return object;
}

/** Sorted: Go goes through a map in any order. */
export function comparableProblems(problems: Json): Json {
  return (problems as JsonObject[])
    .map(({ field, reason, message }) => {
      const text = String(message)
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '$UID')
        .replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-$RANDOM');
      return { field: field ?? '', reason: reason!, message: text };
    })
    .sort((left, right) => JSON.stringify(left).localeCompare(JSON.stringify(right)));
}

/** `1.36` of `v1.36.4`. */
function minorOf(release: string): string {
  return release.slice(1, release.lastIndexOf('.'));
}

function read(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as JsonObject;
}
