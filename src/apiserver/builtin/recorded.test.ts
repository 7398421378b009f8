import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cloneJson, isObject, type Json, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { AdmissionRequest } from '../admission/admission.js';
import { builtInAdmission } from '../admission/plugins/all-plugins.js';
import { certificateRequester } from '../admission/plugins/certificate-requester.js';
import type { GroupResource, ObjectReader } from '../contracts/object-reader.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { StrategyContext } from '../registry/strategy.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { builtInStrategy } from './built-in-strategy.js';

interface Recorded {
  readonly setup: readonly { readonly group: string; readonly resource: string; readonly object: JsonObject }[];
  readonly cases: readonly RecordedCase[];
}
interface RecordedCase {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly steps: readonly RecordedStep[];
}
interface RecordedStep {
  readonly verb: 'create' | 'update' | 'merge';
  readonly subresource?: string;
  readonly body: JsonObject;
  readonly status: number;
  readonly answer: JsonObject;
  readonly warnings?: string;
}

const recorded = JSON.parse(readFileSync(new URL('builtin.recorded.json', import.meta.url), 'utf8')) as Recorded;
const surface = await loadSurface('1.36');
const UID = '11111111-1111-4111-8111-111111111111';
const OPTIONS = { serviceRanges: ['10.96.0.0/16'] };
/** Written by others: the registry, or whoever keeps managed fields. */
const OTHERS = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'deletionTimestamp'];

class Objects implements ObjectReader {
  readonly #all: { what: GroupResource; object: JsonObject }[] = recorded.setup.map(({ group, resource, object }) => ({
    what: { group, resource },
    object,
  }));

  constructor() {
    for (const name of ['default', 'kube-system']) {
      this.add({ group: '', resource: 'namespaces' }, { metadata: { name }, status: { phase: 'Active' } });
    }
  }

  add(what: GroupResource, object: JsonObject): void {
    this.#all.push({ what, object });
  }

  get(what: GroupResource, namespace: string, name: string): JsonObject | undefined {
    return this.list(what, namespace).find((object) => (object['metadata'] as JsonObject)['name'] === name);
  }

  list({ group, resource }: GroupResource, namespace?: string): JsonObject[] {
    return this.#all
      .filter(({ what }) => what.group === group && what.resource === resource)
      .map(({ object }) => object)
      .filter((object) => !namespace || (object['metadata'] as JsonObject)['namespace'] === namespace);
  }

  onChange(): () => void {
    return () => {};
  }
}

/** One resource, one object, written step by step as the registry would. */
class Replay {
  readonly #objects = new Objects();
  readonly #type: ResourceType;
  readonly #plugins = [
    ...builtInAdmission(this.#objects, {
      authorize: () => ({ allowed: true, reason: 'recorded by an administrator' }),
    }),
    certificateRequester(),
  ];
  #live: JsonObject | undefined;

  readonly #recordedCase: RecordedCase;

  constructor(recordedCase: RecordedCase) {
    this.#recordedCase = recordedCase;
    const { group, version, resource } = recordedCase;
    const listed = surface.resource(group, version, resource)!;
    const { schema } = surface.kind(listed.kindGroup ?? group, listed.kindVersion ?? version, listed.kind)!;
    const hasStatus = listed.subresources?.some((each) => each.name === 'status') ?? false;
    const strategy = builtInStrategy({ group, resource, hasStatus, surfaceVersion: surface.version }, schema, OPTIONS);
    this.#type = {
      group,
      version,
      resource,
      kind: listed.kind,
      namespaced: listed.namespaced,
      schema,
      strategy,
    } as ResourceType;
  }

  warnings(): string[] {
    return this.#type.strategy.warnings?.(this.#live!, undefined) ?? [];
  }

  async step(step: RecordedStep): Promise<Json> {
    const body = JSON.parse(JSON.stringify(step.body).replaceAll('$LONG', 'x'.repeat(1024 * 1024 + 1))) as JsonObject;
    return step.verb === 'create' ? this.#create(body) : this.#update(body, step);
  }

  async #create(body: JsonObject): Promise<Json> {
    const { strategy } = this.#type;
    let object = cloneJson(body);
    const metadata = object['metadata'] as JsonObject;
    metadata['uid'] = UID;
    if (this.#recordedCase.namespace !== '') metadata['namespace'] = this.#recordedCase.namespace;
    object = strategy.setDefaults(object);
    const request = this.#request('CREATE', object, '');
    for (const plugin of this.#plugins) await plugin.mutate?.(request);
    object = strategy.prepareForCreate(strategy.setDefaults(request.object!), this.#context);
    const problems = strategy.validateCreate(object, this.#context);
    if (problems.length > 0) return problems as unknown as Json;
    for (const plugin of this.#plugins) await plugin.validate?.(this.#request('CREATE', object, ''));
    this.#live = object;
    return object;
  }

  async #update(body: JsonObject, { verb, subresource }: RecordedStep): Promise<Json> {
    const { strategy } = this.#type;
    const live = this.#live!;
    let object = (verb === 'merge' ? applyMergePatch(cloneJson(live), body) : cloneJson(body)) as JsonObject;
    const metadata = object['metadata'] as JsonObject;
    metadata['uid'] = UID;
    if (this.#recordedCase.namespace !== '') metadata['namespace'] = this.#recordedCase.namespace;
    object = strategy.setDefaults(object);
    const part = subresource === undefined ? undefined : strategy.parts.get(subresource);
    if (subresource !== undefined && part === undefined) throw new Error(`no part ${subresource}`);
    const writer = part ?? strategy;
    const request = this.#request('UPDATE', object, subresource ?? '');
    for (const plugin of this.#plugins) await plugin.mutate?.(request);
    object = writer.prepareForUpdate(strategy.setDefaults(request.object!), cloneJson(live), this.#context);
    const problems = writer.validateUpdate(object, live, this.#context);
    if (problems.length > 0) return problems as unknown as Json;
    this.#live = object;
    return object;
  }

  get #context(): StrategyContext {
    return { now: '2026-11-16T00:00:00Z', objects: this.#objects };
  }

  #request(operation: 'CREATE' | 'UPDATE', object: JsonObject, subresource: string): AdmissionRequest {
    return {
      operation,
      type: this.#type,
      subresource,
      namespace: this.#recordedCase.namespace,
      name: String((object['metadata'] as JsonObject)['name']),
      pathName: '',
      verb: operation.toLowerCase(),
      object,
      oldObject: this.#live,
      options: {},
      dryRun: false,
      user: { name: 'rig-admin', uid: '', groups: ['system:masters', 'system:authenticated'], extra: new Map() },
      warn: () => {},
    };
  }
}

/** What comes out differently every time stands for itself. */
function comparable(value: Json): Json {
  const text = JSON.stringify(value)
    .replaceAll(UID, '$UID')
    .replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-$RANDOM')
    .replaceAll(/"20\d\d-1[0-2]-\d\dT[^"]*Z"/g, '"$TIME"')
    .replaceAll(/"10\.96\.\d+\.\d+"/g, '"$ADDRESS"')
    .replaceAll(/"nodePort":3[0-2]\d{3}/g, '"nodePort":"$PORT"')
    .replaceAll(/"healthCheckNodePort":3[0-2]\d{3}/g, '"healthCheckNodePort":"$PORT"');
  const object = JSON.parse(text) as Json;
  if (!isObject(object) || !isObject(object['metadata'])) return object;
  for (const name of OTHERS) delete object['metadata'][name];
  // Whose certificate it was.
  if (object['kind'] === 'CertificateSigningRequest') delete (object['spec'] as JsonObject)['extra'];
  return object;
}

/** Maps are looked at in any order. */
function problemsOf(problems: Json): Json {
  return (problems as JsonObject[])
    .map(({ field, reason, message }) => {
      const text = String(message)
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '$UID')
        .replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-$RANDOM');
      return { field: field ?? '', reason: reason!, message: text };
    })
    .sort((left, right) => JSON.stringify(left).localeCompare(JSON.stringify(right)));
}

/** `299 - "text"`, several with a comma between. */
function warningTexts(header: string | undefined): string[] {
  const found = (header ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g);
  return [...found].map(([, text]) => JSON.parse(text!) as string);
}

describe('built-in objects are stored or refused as recorded from a real kube-apiserver', () => {
  for (const each of recorded.cases) {
    it(each.name, async () => {
      const replay = new Replay(each);
      for (const step of each.steps) {
        if (step.status === 409) return;
        let result: Json | StatusError;
        try {
          result = await replay.step(step);
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          result = error;
        }
        const what = `${step.verb} ${step.subresource ?? ''} ${JSON.stringify(step.body).slice(0, 300)}`;
        if (step.status === 422) {
          expect(Array.isArray(result) ? problemsOf(result) : result, what).toEqual(
            problemsOf((step.answer['details'] as JsonObject)['causes']!),
          );
        } else if (step.status >= 400) {
          expect(result, what).toBeInstanceOf(StatusError);
          const { message, reason, code, details } = (result as StatusError).status;
          const expected = step.answer as unknown as StatusError['status'];
          expect({ message, reason, code, details }, what).toEqual({
            message: expected.message,
            reason: expected.reason,
            code: expected.code,
            details: expected.details,
          });
        } else {
          if (result instanceof StatusError) throw result;
          expect(comparable(result), what).toEqual(comparable(step.answer));
          if (step.verb === 'create') expect(replay.warnings(), what).toEqual(warningTexts(step.warnings));
        }
      }
    });
  }
});
