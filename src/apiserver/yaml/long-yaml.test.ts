import { describe, expect, it } from 'vitest';
import { duplicateLineOf, withoutLongYaml } from './long-yaml.js';
import { dumpInThread, parseInThread, YAML_INLINE_BYTES_MAX } from './yaml-thread.js';

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `key${index}: value\n`).join('');

describe('withoutLongYaml', () => {
  it('returns short YAML as it is', async () => {
    const body = Buffer.from('a: 1\n');
    expect(await withoutLongYaml(body)).toBe(body);
  });

  it('returns JSON of any length as it is', async () => {
    const text = JSON.stringify({ text: 'x'.repeat(YAML_INLINE_BYTES_MAX) });
    expect((await withoutLongYaml(Buffer.from(text))).toString()).toBe(text);
  });

  it('returns long YAML as JSON, with the line of a duplicate key', async () => {
    const body = await withoutLongYaml(Buffer.from(`${lines(5_000)}key0: other\n`));
    const value = JSON.parse(body.toString()) as Record<string, string>;
    expect([value['key0'], value['key4999']]).toEqual(['other', 'value']);
    expect(duplicateLineOf(body)).toBe(5_001);
  });

  it('refuses long YAML that cannot be read with BadRequest', async () => {
    await expect(withoutLongYaml(Buffer.from(`${lines(5_000)}[`))).rejects.toMatchObject({
      status: { code: 400, message: expect.stringMatching(/^error converting YAML to JSON: yaml: /) },
    });
  });

  it('refuses aliases that unfold to more text than a body may have', async () => {
    const text = `${lines(5_000)}a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(1_000)}]\n`;
    await expect(withoutLongYaml(Buffer.from(text))).rejects.toMatchObject({
      status: { message: 'error converting YAML to JSON: yaml: document contains excessive aliasing' },
    });
  });
});

describe('the YAML thread', () => {
  it('parses several documents one after the other', async () => {
    const parsed = await Promise.all(['a: 1', 'b: [', 'c: 3'].map(parseInThread));
    expect(parsed.map(({ text, problem }) => text ?? typeof problem)).toEqual(['{"a":1}', 'string', '{"c":3}']);
    expect((await dumpInThread(Buffer.from('{"a":[1,2]}')))?.toString()).toBe('a:\n  - 1\n  - 2\n');
  });
});
