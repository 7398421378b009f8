import { beforeAll, describe, expect, it } from 'vitest';
import { cloneJson, type Json, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/admission.js';
import { builtInAdmission } from '../admission/plugins/all-plugins.js';
import { certificateRequester } from '../admission/plugins/certificate-requester.js';
import type { GroupResource, ObjectReader } from '../contracts/object-reader.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import type { ResourceType } from '../registry/resource-type.js';
import type { StrategyContext } from '../registry/strategy.js';
import type { BuiltInSurface } from '../surfaces/built-in-surface.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { shippedVersions } from '../surfaces/shipped-versions.js';
import { builtInStrategy } from './built-in-strategy.js';
import {
  comparable,
  comparableProblems,
  REPLAYED_UID,
  type RecordedCase,
  type RecordedStep,
  recordsByVersion,
  type SetupObject,
} from './builtin-records.fixture.js';
import { DECLARED_DIFFERENCES, NOT_RECORDED } from './declared-differences.fixture.js';

const OPTIONS = { serviceRanges: ['10.96.0.0/16'] };
const RECORDS = recordsByVersion();

class Objects implements ObjectReader {
  readonly #all: { what: GroupResource; object: JsonObject }[];

  constructor(setup: readonly SetupObject[]) {
    this.#all = setup.map(({ group, resource, object }) => ({ what: { group, resource }, object }));
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
  readonly #objects: Objects;
  readonly #type: ResourceType;
  readonly #plugins: AdmissionPlugin[];
  #live: JsonObject | undefined;

  readonly #recordedCase: RecordedCase;

  constructor(recordedCase: RecordedCase, setup: readonly SetupObject[], surface: BuiltInSurface) {
    this.#recordedCase = recordedCase;
    this.#objects = new Objects(setup);
    const authorize = () => ({ allowed: true, reason: 'recorded by an administrator' });
    this.#plugins = [...builtInAdmission(this.#objects, { authorize }), certificateRequester()];
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

  get isStored(): boolean {
    return this.#live !== undefined;
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
    metadata['uid'] = REPLAYED_UID;
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
    metadata['uid'] = REPLAYED_UID;
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

/** `299 - "text"`, several with a comma between. */
function warningTexts(header: string | undefined): string[] {
  const found = (header ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g);
  return [...found].map(([, text]) => JSON.parse(text!) as string);
}

/** Throws where the embedded server of that version answers otherwise than the recorded one. */
async function replayCase(each: RecordedCase, setup: readonly SetupObject[], surface: BuiltInSurface): Promise<void> {
  if (each.steps[0]!.status === 404) {
    const listed = surface.resource(each.group, each.version, each.resource);
    expect(listed?.offByDefault ?? true, 'the recorded server does not serve the resource').toBe(true);
    return;
  }
  const replay = new Replay(each, setup, surface);
  for (const step of each.steps) {
    // A change of an object whose creation was refused.
    if (step.status === 404) {
      expect(replay.isStored).toBe(false);
      continue;
    }
    let result: Json | StatusError;
    try {
      result = await replay.step(step);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      result = error;
    }
    const what = `${step.verb} ${step.subresource ?? ''} ${JSON.stringify(step.body).slice(0, 300)}`;
    if (step.status === 422) {
      expect(Array.isArray(result) ? comparableProblems(result) : result, what).toEqual(
        comparableProblems((step.answer['details'] as JsonObject)['causes']!),
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
}

describe.each([...RECORDS])(
  'built-in objects of %s are stored or refused as recorded from a real server',
  (version, { setup, cases }) => {
    const declared = DECLARED_DIFFERENCES.filter(({ versions }) => versions.includes(version));
    let surface: BuiltInSurface;
    beforeAll(async () => {
      surface = await loadSurface(version);
    });

    for (const each of cases) {
      const difference = declared.find(({ name }) => name === each.name);
      if (difference === undefined) {
        it(each.name, () => replayCase(each, setup, surface));
      } else {
        it(`${each.name}: differs, as declared: ${difference.reason}`, async () => {
          await expect(replayCase(each, setup, surface), 'no longer differs: remove the declaration').rejects.toThrow();
        });
      }
    }

    it('declares differences of recorded cases only', () => {
      const names = new Set(cases.map(({ name }) => name));
      expect(declared.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
    });
  },
);

describe('the records of built-in objects', () => {
  it('come from every shipped version that is not listed with a reason', () => {
    expect([...RECORDS.keys(), ...Object.keys(NOT_RECORDED)].sort()).toEqual([...shippedVersions()].sort());
  });

  it('contain no conflict, which would leave the rest of a case untested', () => {
    const conflicts = [...RECORDS.values()].flatMap(({ cases }) =>
      cases.filter(({ steps }) => steps.some(({ status }) => status === 409)).map(({ name }) => name),
    );
    expect(conflicts).toEqual([]);
  });
});
