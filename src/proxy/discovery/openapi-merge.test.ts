import { describe, expect, it } from 'vitest';
import { mergeSources } from './openapi-merge.js';
import { mergeOpenApi, parseOpenApi } from './openapi-merge-json.js';
import { mergeOpenApiProtobuf } from './openapi-merge-protobuf.js';

describe('mergeOpenApi', () => {
  const newer = {
    openapi: '3.0.0',
    info: { version: '1.36' },
    paths: { '/a': { get: { operationId: 'new' } }, '/c': { get: {} } },
    components: { schemas: { Pod: { description: 'new', properties: { x: {} } } }, securitySchemes: { token: {} } },
  };
  const older = {
    openapi: '3.0.0',
    info: { version: '1.35' },
    paths: { '/b': { get: {} }, '/a': { get: { operationId: 'old' }, post: {} } },
    components: { schemas: { Pod: { description: 'old', properties: { y: {} } }, Gone: {} } },
  };

  it('merges paths, operations and schemas, with precedence for the first document', () => {
    expect(mergeOpenApi([newer, older])).toEqual({
      openapi: '3.0.0',
      info: { version: '1.36' },
      paths: { '/a': { get: { operationId: 'new' }, post: {} }, '/b': { get: {} }, '/c': { get: {} } },
      components: {
        schemas: { Gone: {}, Pod: { description: 'new', properties: { x: {} } } },
        securitySchemes: { token: {} },
      },
    });
  });

  it('merges the definitions of version 2', () => {
    const merged = mergeOpenApi([
      { swagger: '2.0', paths: {}, definitions: { A: {} } },
      { swagger: '2.0', paths: { '/x': {} }, definitions: { A: { type: 'object' }, B: {} } },
    ]);
    expect(merged).toEqual({ swagger: '2.0', paths: { '/x': {} }, definitions: { A: {}, B: {} } });
  });

  it('treats a member named __proto__ as data', () => {
    const hostile = parseOpenApi('{"openapi":"3.0.0","paths":{"__proto__":{"get":{}}}}')!;
    const merged = mergeOpenApi([newer, hostile]);
    expect(JSON.stringify(merged)).toContain('"__proto__":{"get":{}}');
    expect(({} as { get?: unknown }).get).toBeUndefined();
  });

  it('parseOpenApi returns undefined for text that is not an OpenAPI document', () => {
    for (const text of ['', '{', 'null', '[]', '"x"', '{}', '{"openapi":"3.0.0","paths":[]}', '<html>']) {
      expect(parseOpenApi(text)).toBeUndefined();
    }
  });
});

/** Length-delimited protobuf fields: `[id, text | nested fields]`. */
type Wire = [id: number, value: string | Wire[]];

function wire(...fields: Wire[]): Buffer {
  return Buffer.concat(
    fields.map(([id, value]) => {
      const bytes = typeof value === 'string' ? Buffer.from(value) : wire(...value);
      const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
      return Buffer.concat([Buffer.from([(id << 3) | 2, ...length]), bytes]);
    }),
  );
}

const named = (name: string, value: string): Wire[] => [
  [1, name],
  [2, value],
];

describe('mergeOpenApiProtobuf', () => {
  it('merges paths and definitions of version 2 by name, with precedence for the first document', () => {
    const newer = wire([1, '2.0'], [8, [[2, named('/b', 'new')]]], [9, [[1, named('Pod', 'new')]]], [15, 'kept']);
    const older = wire(
      [1, '2.0'],
      [
        8,
        [
          [2, named('/a', 'old')],
          [2, named('/b', 'old')],
        ],
      ],
      [
        9,
        [
          [1, named('Gone', 'old')],
          [1, named('Pod', 'old')],
        ],
      ],
    );
    expect(mergeOpenApiProtobuf('v2', [newer, older])).toEqual(
      wire(
        [1, '2.0'],
        [
          8,
          [
            [2, named('/a', 'old')],
            [2, named('/b', 'new')],
          ],
        ],
        [
          9,
          [
            [1, named('Gone', 'old')],
            [1, named('Pod', 'new')],
          ],
        ],
        [15, 'kept'],
      ),
    );
  });

  it('merges paths and schemas of version 3, and writes lengths above 127', () => {
    const long = 'x'.repeat(200);
    const newer = wire([1, '3.0.0'], [4, [[1, named('/a', long)]]], [5, [[1, [[1, named('A', long)]]]]]);
    const older = wire(
      [1, '3.0.0'],
      [4, [[1, named('/b', long)]]],
      [
        5,
        [
          [1, [[1, named('B', long)]]],
          [7, [[1, named('T', 't')]]],
        ],
      ],
    );
    expect(mergeOpenApiProtobuf('v3', [newer, older])).toEqual(
      wire(
        [1, '3.0.0'],
        [
          4,
          [
            [1, named('/a', long)],
            [1, named('/b', long)],
          ],
        ],
        [
          5,
          [
            [
              1,
              [
                [1, named('A', long)],
                [1, named('B', long)],
              ],
            ],
            [7, [[1, named('T', 't')]]],
          ],
        ],
      ),
    );
  });

  it('returns a single document unchanged', () => {
    const one = wire([1, '2.0'], [8, [[2, named('/a', 'x')]]]);
    expect(mergeOpenApiProtobuf('v2', [one])).toEqual(one);
  });

  it('returns undefined for bytes that are not an OpenAPI document', () => {
    const one = wire([1, '2.0'], [8, [[2, named('/a', 'x')]]]);
    for (const bytes of [
      Buffer.from('<html>'),
      Buffer.from('{"a":1}'),
      one.subarray(0, -3),
      Buffer.alloc(0),
      Buffer.alloc(9, 255),
    ]) {
      expect(mergeOpenApiProtobuf('v2', [bytes])).toBeUndefined();
    }
  });
});

describe('mergeSources', () => {
  const source = (bytes: Buffer, faults: string[] = [], exact = true) => ({
    bytes,
    exact,
    reject: (why: string) => void faults.push(why),
  });
  const json = (paths: object) => Buffer.from(JSON.stringify({ openapi: '3.0.0', paths }));
  const FORM = { version: 'v3', encoding: 'json' } as const;

  it('uses the expected hash as ETag only for a complete document', async () => {
    const whole = await mergeSources(FORM, [source(json({ '/a': {} })), source(json({ '/b': {} }))], 'H');
    expect(whole).toMatchObject({ complete: true, document: { etag: '"H"' } });
    const partial = await mergeSources(FORM, [source(json({ '/a': {} })), undefined], 'H');
    expect(partial!.complete).toBe(false);
    expect(partial!.document.etag).not.toBe('"H"');
    expect((await mergeSources(FORM, [source(json({}), [], false)], 'H'))!.complete).toBe(false);
  });

  it('ignores and reports malformed documents', async () => {
    const faults: string[] = [];
    const made = await mergeSources(FORM, [source(Buffer.from('{"openapi'), faults), source(json({ '/b': {} }))], 'H');
    expect(made!.document.bytes).toEqual(json({ '/b': {} }));
    expect(faults).toEqual(['the reply is not an OpenAPI document']);
    expect(await mergeSources(FORM, [source(Buffer.from('x'), faults)], 'H')).toBeUndefined();
  });
});
