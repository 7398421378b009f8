import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';

const PATH = '/api/v1/namespaces/default/configmaps/known';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

const servers: Record<string, TestApiServer> = {};

beforeAll(async () => {
  for (const version of ['1.36', '1.37']) {
    servers[version] = await startTestApiServer({ version });
    const body = { metadata: { name: 'known' }, data: { a: 'b' } };
    const path = '/api/v1/namespaces/default/configmaps';
    expect((await servers[version].ask('POST', path, { body })).status).toBe(201);
  }
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close();
});

async function messageOf(version: string, type: string, text: string, query = ''): Promise<unknown> {
  const headers = { 'content-type': type };
  const { status, body } = await servers[version]!.ask('PATCH', `${PATH}?fieldManager=x${query}`, {
    body: text,
    headers,
  });
  expect([status, body['reason']]).toEqual([400, 'BadRequest']);
  return body['message'];
}

describe('a patch that is no JSON', () => {
  // As kube-apiservers 1.36.4 and 1.37.1 answer.
  it.each([
    [MERGE, '{', 'error decoding patch: unexpected end of JSON input'],
    [MERGE, '', 'error decoding patch: unexpected end of JSON input'],
    [MERGE, '{"a":1}}', "error decoding patch: invalid character '}' after top-level value"],
    [STRATEGIC, '{', 'unexpected end of JSON input'],
  ])('is refused in the words of the version: %s %j', async (type, text, before) => {
    expect(await messageOf('1.36', type, text)).toBe(before);
    expect(await messageOf('1.37', type, text)).toBe('invalid JSON patch');
  });

  it('is refused likewise as a JSON patch', async () => {
    expect(await messageOf('1.37', JSON_PATCH, '[')).toBe('invalid JSON patch');
  });
});

describe('a patch that is JSON, but none of its kind', () => {
  it('is refused in the same words by both versions', async () => {
    for (const version of ['1.36', '1.37']) {
      const why = 'json: cannot unmarshal array into Go value of type map[string]interface {}';
      expect(await messageOf(version, MERGE, '[]')).toBe(`error decoding patch: ${why}`);
    }
  });
});

it('an apply with doubled fields is called a patch since 1.37', async () => {
  const text = '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","a":"2"}}';
  expect(await messageOf('1.36', APPLY, text, '&fieldValidation=Strict')).toMatch(/^error strict decoding YAML: /);
  expect(await messageOf('1.37', APPLY, text, '&fieldValidation=Strict')).toMatch(/^error strict decoding patch: /);
});
