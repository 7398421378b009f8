import { describe, expect, it } from 'vitest';
import { encodeOpenApiV2 } from './openapi-v2-protobuf.js';

type Read = Map<number, (number | Buffer)[]>;

/** An independent reader, so that it does not repeat mistakes of the writer. */
function read(bytes: Buffer): Read {
  const fields: Read = new Map();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    let value: number | Buffer;
    if ((tag & 7) === 0) value = varint();
    else if ((tag & 7) === 1) {
      value = bytes.readDoubleLE(at);
      at += 8;
    } else {
      const length = varint();
      value = bytes.subarray(at, at + length);
      at += length;
    }
    fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), value]);
  }
  return fields;
}

/** Down a path of field numbers, always to the first of each. */
function at(bytes: Buffer, ...ids: number[]): number | Buffer | undefined {
  let value: number | Buffer | undefined = bytes;
  for (const id of ids) value = Buffer.isBuffer(value) ? read(value).get(id)?.[0] : undefined;
  return value;
}

const text = (value: number | Buffer | undefined): string => String(value);

describe('OpenAPI v2 in protobuf', () => {
  it('encodes types with their members, limits and extensions', async () => {
    const bytes = await encodeOpenApiV2({
      swagger: '2.0',
      info: { title: 'T', version: '1' },
      definitions: {
        'x.Kind': {
          type: 'object',
          required: ['a', 'b'],
          properties: {
            a: { type: 'integer', format: 'int32', minimum: 1.5, maxLength: 300, enum: [1, 'b'] },
            b: { type: 'array', items: { $ref: '#/definitions/y' } },
            c: { type: 'object', additionalProperties: { type: 'string' } },
          },
          'x-kubernetes-group-version-kind': [{ group: 'g' }],
        },
      },
    });
    expect(text(at(bytes, 1))).toBe('2.0');
    expect(text(at(bytes, 2, 1))).toBe('T');
    expect(text(at(bytes, 9, 1, 1))).toBe('x.Kind');
    const schema = at(bytes, 9, 1, 2) as Buffer;
    expect(text(at(schema, 22, 1))).toBe('object');
    expect(read(schema).get(19)!.map(text)).toEqual(['a', 'b']);
    const [a, b, c] = read(at(schema, 25) as Buffer).get(1) as Buffer[];
    expect([text(at(a!, 1)), text(at(a!, 2, 2)), at(a!, 2, 9), at(a!, 2, 11)]).toEqual(['a', 'int32', 1.5, 300]);
    expect(
      read(at(a!, 2) as Buffer)
        .get(20)!
        .map((each) => text(at(each as Buffer, 2))),
    ).toEqual(['1', '"b"']);
    expect(text(at(b!, 2, 23, 1, 1))).toBe('#/definitions/y');
    expect(text(at(c!, 2, 21, 1, 22, 1))).toBe('string');
    expect(text(at(schema, 31, 1))).toBe('x-kubernetes-group-version-kind');
    expect(text(at(schema, 31, 2, 2))).toBe('[{"group":"g"}]');
  });

  it('encodes operations with each parameter in the message of its kind', async () => {
    const bytes = await encodeOpenApiV2({
      paths: {
        '/x/{name}': {
          patch: {
            operationId: 'patchX',
            consumes: ['a/b', 'c/d'],
            parameters: [
              { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/p' } },
              { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
            ],
            responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/x' } } },
            'x-kubernetes-action': 'patch',
          },
          parameters: [{ name: 'name', in: 'path', required: true, type: 'string' }],
        },
      },
      security: [{ BearerToken: [] }],
      securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    });
    const item = at(bytes, 8, 2, 2) as Buffer;
    expect(text(at(bytes, 8, 2, 1))).toBe('/x/{name}');
    const patch = at(item, 8) as Buffer;
    expect(text(at(patch, 5))).toBe('patchX');
    expect(read(patch).get(7)!.map(text)).toEqual(['a/b', 'c/d']);
    const [body, query] = read(patch).get(8) as Buffer[];
    expect([text(at(body!, 1, 1, 2)), at(body!, 1, 1, 4), text(at(body!, 1, 1, 5, 1))]).toEqual([
      'body',
      1,
      '#/definitions/p',
    ]);
    // The path on which kubectl 1.20 looks for dry run.
    expect([text(at(query!, 1, 2, 3, 4)), text(at(query!, 1, 2, 3, 6)), at(query!, 1, 2, 3, 20)]).toEqual([
      'dryRun',
      'string',
      1,
    ]);
    expect(text(at(item, 9, 1, 2, 4, 4))).toBe('name');
    expect([text(at(patch, 9, 1, 1)), text(at(patch, 9, 1, 2, 1, 2, 1, 1))]).toEqual(['200', '#/definitions/x']);
    expect([text(at(patch, 13, 1)), text(at(patch, 13, 2, 2))]).toEqual(['x-kubernetes-action', '"patch"']);
    expect(text(at(bytes, 12, 1, 1))).toBe('BearerToken');
    expect(text(at(bytes, 13, 1, 2, 2, 2))).toBe('authorization');
  });

  it('encodes negative numbers and members with any name', async () => {
    const properties = JSON.parse('{"__proto__":{"maxLength":-1,"title":""}}');
    const bytes = await encodeOpenApiV2({ definitions: { d: { properties } } });
    const member = at(bytes, 9, 1, 2, 25, 1) as Buffer;
    expect(text(at(member, 1))).toBe('__proto__');
    expect(at(member, 2, 11)).toBe(2 ** 64);
  });
});
