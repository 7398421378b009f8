import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufError, WireWriter } from '../../base/protobuf-wire.js';
import type { JsonObject } from '../../kube/json.js';
import { closeEnvelope } from '../../kube/protobuf-envelope.js';
import { loadSurface } from '../surfaces/load-surface.js';
import { shippedVersions } from '../surfaces/shipped-versions.js';
import { decodeProtobuf, PROTOBUF_LEVELS_MAX } from './decode-protobuf.js';
import { encodeProtobuf } from './encode-protobuf.js';
import { kindMessage } from './message-table.js';

const recorded = JSON.parse(readFileSync(new URL('./objects.recorded.json', import.meta.url), 'utf8')) as {
  objects: { protobuf: string }[];
};
const samples = recorded.objects.map(({ protobuf }) => Buffer.from(protobuf, 'base64'));

function message(write: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter();
  write(writer);
  return writer.finish();
}

const decodeRaw = (kind: string, raw: Buffer, apiVersion = 'v1'): JsonObject =>
  decodeProtobuf(closeEnvelope({ apiVersion, kind, raw })).object;
const roundTrip = (object: JsonObject): JsonObject => decodeProtobuf(encodeProtobuf(object)!).object;

function decodesOrThrowsTyped(bytes: Buffer): void {
  try {
    decodeProtobuf(bytes);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
  }
}

describe('malformed protobuf', () => {
  it('is decoded or refused with a ProtobufError, for any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom('Pod', 'Secret', 'DeleteOptions'),
        (bytes, kind) => {
          decodesOrThrowsTyped(Buffer.from(bytes));
          decodesOrThrowsTyped(closeEnvelope({ apiVersion: 'v1', kind, raw: Buffer.from(bytes) }));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('is decoded or refused with a ProtobufError, for changed or truncated real objects', () => {
    const damage = fc.record({
      sample: fc.constantFrom(...samples),
      length: fc.nat(),
      changes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(damage, ({ sample, length, changes }) => {
        const bytes = Buffer.from(changes.length === 0 ? sample.subarray(0, length % sample.length) : sample);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        decodesOrThrowsTyped(bytes);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is refused if it is not an object', () => {
    expect(() => decodeProtobuf(Buffer.from('x'))).toThrow('expected prefix [107 56 115 0]');
    expect(() => decodeRaw('Container', Buffer.alloc(0))).toThrow('no kind "Container" is registered for version "v1"');
    expect(() => decodeRaw('Widget', Buffer.alloc(0), 'example.com/v1')).toThrow(ProtobufError);
    expect(() => decodeRaw('constructor', Buffer.alloc(0), '__proto__')).toThrow(ProtobufError);
  });

  it('is refused if messages nest too deeply', () => {
    const path = 'apiextensions.k8s.io/v1';
    let schema: Buffer = Buffer.alloc(0);
    for (let level = 0; level < PROTOBUF_LEVELS_MAX + 10; level++)
      schema = message((writer) => writer.bytes(28, schema));
    const nested = [1, 4, 7, 2].reduce<Buffer>(
      (inner, number) => message((writer) => writer.bytes(number, inner)),
      schema,
    );
    expect(() => decodeRaw('CustomResourceDefinition', nested, path)).toThrow('exceeded max depth');
  });

  it('is refused if envelopes nest too deeply', () => {
    let bytes = closeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw: Buffer.alloc(0) });
    for (let level = 0; level < PROTOBUF_LEVELS_MAX; level++) {
      const extension = message((writer) => writer.bytes(1, bytes));
      bytes = closeEnvelope({
        apiVersion: 'v1',
        kind: 'List',
        raw: message((writer) => writer.bytes(2, extension)),
      });
    }
    expect(() => decodeProtobuf(bytes)).toThrow('exceeded max depth');
  });

  it('is refused if few bytes expand to very many objects', () => {
    const containers = Buffer.alloc(2 * 50_000);
    for (let at = 0; at < containers.length; at += 2) containers[at] = (2 << 3) | 2;
    const raw = message((writer) => writer.bytes(2, containers));
    expect(() => decodeRaw('Pod', raw)).toThrow('too many messages');
  });
});

describe('decodeProtobuf', () => {
  it('keeps map keys such as __proto__ as plain members', () => {
    const entry = message((writer) => {
      writer.text(1, '__proto__');
      writer.text(2, 'polluted');
    });
    const object = decodeRaw(
      'ConfigMap',
      message((writer) => writer.bytes(2, entry)),
    );
    expect(Object.keys(object['data'] as JsonObject)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(roundTrip(object)).toEqual(object);
  });

  it('omits and keeps empty fields as Go does', () => {
    expect(decodeRaw('Pod', Buffer.alloc(0))).toEqual({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {},
      spec: { containers: null },
      status: {},
    });
  });

  it('merges repeated occurrences of one message', () => {
    const piece = (number: number, text: string): Buffer => message((writer) => writer.text(number, text));
    const raw = message((writer) => {
      writer.bytes(1, piece(1, 'a'));
      writer.bytes(1, piece(3, 'ns'));
    });
    expect(decodeRaw('ConfigMap', raw)['metadata']).toEqual({ name: 'a', namespace: 'ns' });
  });

  it('skips unknown fields', () => {
    const raw = message((writer) => {
      writer.text(1000, 'new');
      writer.number(1001, -1);
      writer.double(1002, 1.5);
    });
    expect(decodeRaw('DeleteOptions', raw)).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1' });
  });

  it('decodes packed and unpacked lists of numbers', () => {
    const job = (values: (writer: WireWriter) => void): JsonObject => {
      const raw = [2, 1, 11, 2].reduce(
        (inner, number) => message((writer) => writer.bytes(number, inner)),
        message(values),
      );
      return decodeRaw('Job', raw, 'batch/v1');
    };
    const unpacked = job((writer) => {
      writer.number(3, 1);
      writer.number(3, 300);
    });
    expect(JSON.stringify(unpacked)).toContain('"values":[1,300]');
    expect(job((writer) => writer.bytes(3, Buffer.from([1, 0xac, 2])))).toEqual(unpacked);
  });

  it('decodes an envelope without a kind as the expected kind', () => {
    const bytes = closeEnvelope({ apiVersion: '', kind: '', raw: Buffer.alloc(0) });
    expect(decodeProtobuf(bytes, { apiVersion: 'v1', kind: 'ConfigMap' }).object).toMatchObject({ kind: 'ConfigMap' });
    expect(() => decodeProtobuf(bytes)).toThrow(ProtobufError);
  });

  it('decodes kinds of meta.k8s.io in every version of every group', () => {
    const options = { kind: 'DeleteOptions', apiVersion: 'apps/v1', gracePeriodSeconds: 0, propagationPolicy: '' };
    expect(roundTrip(options)).toEqual(options);
    expect(roundTrip({ ...options, apiVersion: 'example.com/v1' })).toMatchObject({ gracePeriodSeconds: 0 });
  });
});

describe('encodeProtobuf', () => {
  it('returns undefined for kinds without a message', () => {
    expect(encodeProtobuf({ apiVersion: 'example.com/v1', kind: 'Widget' })).toBeUndefined();
    expect(encodeProtobuf({})).toBeUndefined();
  });

  it('keeps numbers of every size and sign', () => {
    for (const value of [0, 1, -1, 127, 128, 2 ** 31, -(2 ** 31) - 1, 2 ** 49, 2 ** 53 - 1, -(2 ** 53) + 1]) {
      const object = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: value };
      expect(roundTrip(object)).toEqual(object);
    }
  });

  it('refuses fields of the wrong type', () => {
    const pod = (spec: JsonObject): JsonObject => ({ kind: 'Pod', apiVersion: 'v1', spec });
    expect(() => encodeProtobuf(pod({ containers: 'x' }))).toThrow(ProtobufError);
    expect(() => encodeProtobuf(pod({ hostNetwork: 'x' }))).toThrow(ProtobufError);
    expect(() => encodeProtobuf(pod({ activeDeadlineSeconds: 1.5 }))).toThrow(ProtobufError);
  });

  it('has a message for every kind that a surface can create', async () => {
    for (const version of shippedVersions()) {
      const { groups } = await loadSurface(version);
      const kinds = groups.flatMap(({ name, versions }) =>
        versions.flatMap((each) =>
          each.resources.flatMap((resource) =>
            [resource, ...(resource.subresources ?? [])]
              .filter(({ verbs }) => verbs.includes('create') || verbs.includes('update'))
              .map(({ kind, kindGroup = name, kindVersion = each.version }) => ({
                apiVersion: kindGroup === '' ? kindVersion : `${kindGroup}/${kindVersion}`,
                kind,
              })),
          ),
        ),
      );
      expect(kinds.filter(({ apiVersion, kind }) => kindMessage(apiVersion, kind) === undefined)).toEqual([]);
      for (const identity of kinds) expect(roundTrip(roundTrip(identity))).toEqual(roundTrip(identity));
    }
  });
});
