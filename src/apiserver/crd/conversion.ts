import { randomUUID } from 'node:crypto';
import { formatHostPort, hostPortOf } from '../../base/address.js';
import {
  isDeeperThan,
  isObject,
  JSON_LEVELS_MAX,
  type Json,
  type JsonObject,
  jsonEqual,
  member,
  objectMember,
} from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { ServiceAddress, ServiceReference } from '../aggregation/service-address.js';
import type { Outbound, OutboundAnswer, OutboundTarget } from '../outbound/outbound.js';
import type { Conversion } from '../registry/resource-type.js';
import { labelKeyProblems, labelValueProblems } from '../values/object-meta.js';
import { REVIEW_VERSIONS } from './conversion-rules.js';
import { objectIn, textIn, textsIn } from './definition.js';

/** Timeout of one request to a webhook. */
const CONVERSION_TIMEOUT_SECONDS = 30;
/** Objects of one request to a webhook; a longer list takes several requests, one after the other. */
export const CONVERSION_BATCH_MAX = 500;

export interface ConversionDependencies {
  readonly outbound: Outbound;
  resolveService(reference: ServiceReference): ServiceAddress;
}

export interface ConversionVersions {
  readonly servedApiVersion: string;
  readonly storedApiVersion: string;
}

/** Versions differ in `apiVersion` only. */
export function trivialConversion({ servedApiVersion, storedApiVersion }: ConversionVersions): Conversion {
  const renamed = (objects: readonly JsonObject[], apiVersion: string): Promise<JsonObject[]> =>
    Promise.resolve(objects.map((object) => ({ ...object, apiVersion })));
  return {
    isTrivial: true,
    toServed: (objects) => renamed(objects, servedApiVersion),
    toStored: (objects) => renamed(objects, storedApiVersion),
  };
}

/** Objects in another version than the wanted one are converted by the webhook of the definition. */
export function webhookConversion(
  conversion: JsonObject,
  { servedApiVersion, storedApiVersion }: ConversionVersions,
  dependencies: ConversionDependencies,
): Conversion {
  const converter = new WebhookConverter(conversion, dependencies);
  return {
    isTrivial: false,
    toServed: (objects) => converter.convert(objects, servedApiVersion),
    toStored: (objects) => converter.convert(objects, storedApiVersion),
  };
}

class WebhookConverter {
  readonly #reviewVersion: string | undefined;
  readonly #conversion: JsonObject;
  readonly #dependencies: ConversionDependencies;

  constructor(conversion: JsonObject, dependencies: ConversionDependencies) {
    this.#conversion = conversion;
    this.#dependencies = dependencies;
    const spoken = textsIn(objectMember(conversion, 'webhook'), 'conversionReviewVersions');
    this.#reviewVersion = spoken.find((version) => REVIEW_VERSIONS.includes(version));
  }

  async convert(objects: readonly JsonObject[], apiVersion: string): Promise<JsonObject[]> {
    const others = objects.filter((object) => object['apiVersion'] !== apiVersion);
    const converted: JsonObject[] = [];
    for (let start = 0; start < others.length; start += CONVERSION_BATCH_MAX) {
      const batch = others.slice(start, start + CONVERSION_BATCH_MAX);
      converted.push(...(await this.#convertBatch(batch, apiVersion, start)));
    }
    let index = 0;
    return objects.map((object) => (object['apiVersion'] === apiVersion ? object : converted[index++]!));
  }

  async #convertBatch(objects: readonly JsonObject[], apiVersion: string, start: number): Promise<JsonObject[]> {
    const who = `conversion webhook for ${textIn(objects[0]!, 'apiVersion')}, Kind=${textIn(objects[0]!, 'kind')}`;
    if (this.#reviewVersion === undefined) throw failure('no supported conversion review versions');
    const uid = randomUUID();
    const request: JsonObject = {
      kind: 'ConversionReview',
      apiVersion: `apiextensions.k8s.io/${this.#reviewVersion}`,
      request: { uid, desiredAPIVersion: apiVersion, objects: [...objects] },
    };
    let converted: readonly Json[];
    try {
      converted = convertedObjects(await this.#call(request), this.#reviewVersion, uid);
    } catch (error) {
      throw failure(`${who} failed: ${(error as Error).message}`);
    }
    if (converted.length !== objects.length) {
      throw failure(`${who} returned ${converted.length} objects, expected ${objects.length}`);
    }
    return converted.map((each, index) => {
      const problem = convertedProblem(objects[index]!, each, apiVersion);
      if (problem !== undefined) {
        throw failure(`${who} returned invalid converted object at index ${start + index}: ${problem}`);
      }
      return withOriginalMetadata(objects[index]!, each as JsonObject);
    });
  }

  async #call(request: JsonObject): Promise<Json> {
    const { outbound, resolveService } = this.#dependencies;
    const target = conversionTarget(this.#conversion, resolveService);
    let answer: OutboundAnswer;
    try {
      answer = await outbound.call(target, {
        method: 'POST',
        path: target.path,
        headers: ['content-type', 'application/json', 'accept', 'application/json'],
        body: Buffer.from(JSON.stringify(request)),
        timeoutMs: CONVERSION_TIMEOUT_SECONDS * 1000,
      });
    } catch (error) {
      throw new Error(`Post ${JSON.stringify(target.url)}: ${(error as Error).message}`);
    }
    return parsedAnswer(answer);
  }
}

interface ConversionTarget extends OutboundTarget {
  readonly path: string;
  /** The URL in messages. */
  readonly url: string;
}

/** Resolved for every call, because the address of a service may change. Throws what `resolveService` throws. */
function conversionTarget(
  conversion: JsonObject,
  resolveService: (reference: ServiceReference) => ServiceAddress,
): ConversionTarget {
  const config = objectMember(objectMember(conversion, 'webhook'), 'clientConfig');
  const bundle = Buffer.from(textIn(config, 'caBundle'), 'base64').toString('utf8');
  const caBundle = bundle.trim() === '' ? undefined : bundle;
  const query = `?timeout=${CONVERSION_TIMEOUT_SECONDS}s`;
  const service = objectIn(config, 'service');
  if (service === undefined) {
    const url = new URL(textIn(config, 'url'));
    const path = url.pathname + query;
    const target = hostPortOf(url);
    const address = formatHostPort(target);
    return { address, serverName: target.host, caBundle, path, url: `https://${url.host}${path}` };
  }
  const [namespace, name] = [textIn(service, 'namespace'), textIn(service, 'name')];
  const port = typeof service['port'] === 'number' ? service['port'] : 443;
  const { address, serverName } = resolveService({ namespace, name, port });
  const path = (textIn(service, 'path') || '/') + query;
  return { address, serverName, caBundle, path, url: `https://${serverName}:${port}${path}` };
}

function failure(message: string): StatusError {
  return new StatusError('InternalError', message);
}

function parsedAnswer({ status, body }: OutboundAnswer): Json {
  if (status < 200 || status > 299) {
    const text = body.toString('utf8', 0, 2_048);
    if (status === 404) throw new Error('the server could not find the requested resource');
    throw new Error(`an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`);
  }
  const document = JSON.parse(body.toString('utf8')) as Json;
  if (isDeeperThan(document, JSON_LEVELS_MAX)) throw new Error('exceeded max depth');
  return document;
}

function convertedObjects(review: Json, version: string, uid: string): readonly Json[] {
  if (!isObject(review)) throw new Error('no response provided');
  const [apiVersion, kind] = [textIn(review, 'apiVersion'), textIn(review, 'kind')];
  const isV1 = version === 'v1';
  const wanted = `apiextensions.k8s.io/${version}`;
  if (isV1 && (apiVersion !== wanted || kind !== 'ConversionReview')) {
    const expected = `${wanted}, Kind=ConversionReview`;
    throw new Error(`expected webhook response of ${expected}, got ${apiVersion}, Kind=${kind}`);
  }
  const response = objectIn(review, 'response');
  if (response === undefined) throw new Error('no response provided');
  const actual = textIn(response, 'uid');
  if (isV1 && actual !== uid) throw new Error(`expected response.uid="${uid}", got ${JSON.stringify(actual)}`);
  const result = objectMember(response, 'result');
  if (textIn(result, 'status') !== 'Success') {
    const message = textIn(result, 'message');
    throw new Error(
      message !== '' ? message : `response.result.status was '${textIn(result, 'status')}', not 'Success'`,
    );
  }
  const objects = member(response, 'convertedObjects');
  return Array.isArray(objects) ? objects : [];
}

/** Checks that a webhook has not changed the identity of an object. */
function convertedProblem(original: JsonObject, converted: Json, apiVersion: string): string | undefined {
  if (!isObject(converted)) return 'the converted object is no object';
  const actual = textIn(converted, 'apiVersion');
  if (actual !== apiVersion) return `invalid groupVersion (expected ${apiVersion}, received ${actual})`;
  const [kind, was] = [textIn(converted, 'kind'), textIn(original, 'kind')];
  if (kind !== was) return `invalid kind (expected ${was}, received ${kind})`;
  const metadata = member(converted, 'metadata');
  if (metadata === undefined) return 'missing metadata in converted object';
  if (!isObject(metadata)) return 'invalid metadata in converted object';
  const before = objectMember(original, 'metadata');
  for (const [name, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [old, now] = [textIn(before, name), textIn(metadata, name)];
    if (old !== now) return `must have the same ${shown}: ${old} != ${now}`;
  }
  return labelProblem(metadata, before) ?? annotationProblem(metadata, before);
}

function labelProblem(metadata: JsonObject, before: JsonObject): string | undefined {
  const labels = member(metadata, 'labels');
  const defect = textMapProblem(labels, 'labels');
  if (defect !== undefined || !isObject(labels) || jsonEqual(labels, member(before, 'labels'))) return defect;
  for (const [key, value] of Object.entries(labels)) {
    const problems = [...labelKeyProblems(key), ...labelValueProblems(value as string)];
    if (problems.length > 0) return `metadata.labels: Invalid value: ${JSON.stringify(value)}: ${problems[0]}`;
  }
  return undefined;
}

function annotationProblem(metadata: JsonObject, before: JsonObject): string | undefined {
  const annotations = member(metadata, 'annotations');
  const defect = textMapProblem(annotations, 'annotations');
  if (defect !== undefined || !isObject(annotations) || jsonEqual(annotations, member(before, 'annotations')))
    return defect;
  for (const key of Object.keys(annotations)) {
    const [problem] = labelKeyProblems(key.toLowerCase());
    if (problem !== undefined) return `metadata.annotation: Invalid value: ${JSON.stringify(key)}: ${problem}`;
  }
  return undefined;
}

function textMapProblem(value: Json | undefined, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return `invalid metadata.${name} in converted object`;
  const odd = Object.keys(value).find((key) => typeof value[key] !== 'string');
  return odd === undefined ? undefined : `metadata.${name}[${odd}] must be a string in converted object`;
}

/** Takes labels and annotations from the webhook, all other metadata from the original. */
function withOriginalMetadata(original: JsonObject, converted: JsonObject): JsonObject {
  const metadata = { ...objectIn(original, 'metadata') };
  const changed = objectMember(converted, 'metadata');
  for (const name of ['labels', 'annotations']) {
    const value = member(changed, name);
    if (isObject(value)) metadata[name] = value;
    else delete metadata[name];
  }
  return { ...converted, metadata };
}
