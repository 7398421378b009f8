import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkSlices } from '../../base/work-slices.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { encodeProtobuf } from '../protobuf/encode-protobuf.js';
import { listJson, listProtobuf } from './list-document.js';

describe('listJson', () => {
  it.each([0, 2])('writes the same as JSON.stringify with an indent of %i', async (indent) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 4 }), async (values) => {
        const items = JSON.parse(JSON.stringify(values)) as Json[];
        const head: JsonObject = { kind: 'List', metadata: { resourceVersion: '1' } };
        const written = await listJson({ head, name: 'items', items }, indent, new WorkSlices());
        expect(written.toString()).toBe(JSON.stringify({ ...head, items }, null, indent));
      }),
    );
  });
});

describe('listProtobuf', () => {
  it('writes the same as the encoding of the whole list', async () => {
    const head = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
    const items = ['a', 'b'].map((name) => ({ metadata: { name }, data: { key: name } }));
    const written = await listProtobuf({ head, name: 'items', items }, new WorkSlices());
    expect(written).toEqual(encodeProtobuf({ ...head, items }));
  });
});
