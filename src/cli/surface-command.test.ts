import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parseDescriptions } from '../apiserver/descriptions/parse-descriptions.js';
import { readSurface } from '../apiserver/surfaces/built-in-surface.js';
import { makeCa, makeServer } from '../http/tls/pki.fixture.js';
import { runStraddle } from './program.js';

const notStarted = async () => Promise.reject(new Error('not started here'));

import type { Surroundings } from './surroundings.js';

const ca = makeCa('test');
const serving = makeServer(ca);
let server: Server | undefined;

afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

const resource = (name: string, kind: string) => ({
  resource: name,
  responseKind: { group: '', version: '', kind },
  scope: 'Namespaced',
  singularResource: kind.toLowerCase(),
  verbs: ['get', 'list'],
});
const group = (name: string | undefined, version: string, ...resources: object[]) => ({
  metadata: name === undefined ? {} : { name },
  versions: [{ version, resources, freshness: 'Current' }],
});
const list = (...items: object[]) => ({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items });
const types = (name: string, group: string, version: string, kind: string) => ({
  components: {
    schemas: {
      [name]: {
        type: 'object',
        description: 'some prose about it',
        properties: { spec: { type: 'string' } },
        'x-kubernetes-group-version-kind': [{ group, version, kind }],
      },
    },
  },
});
const DOCUMENTS: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '37+', gitVersion: 'v1.37.1-cloud.4' },
  '/api': list(group(undefined, 'v1', resource('pods', 'Pod'))),
  '/apis': list(
    group('apps', 'v1', resource('deployments', 'Deployment')),
    group('example.com', 'v1', resource('widgets', 'Widget')),
    group('metrics.example', 'v1', resource('metrics', 'Metric')),
  ),
  '/apis/apiregistration.k8s.io/v1/apiservices': {
    items: [
      {
        metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
        spec: { group: 'apps', version: 'v1' },
      },
      {
        metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
        spec: { group: 'example.com', version: 'v1' },
      },
      { metadata: {}, spec: { group: 'metrics.example', version: 'v1', service: { name: 'm' } } },
    ],
  },
  '/openapi/v3': {
    paths: {
      'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=1' },
      'apis/apps/v1': { serverRelativeURL: '/openapi/v3/apis/apps/v1?hash=2' },
      'apis/example.com/v1': { serverRelativeURL: '/openapi/v3/apis/example.com/v1?hash=3' },
    },
  },
  '/openapi/v3/api/v1?hash=1': types('io.k8s.api.core.v1.Pod', '', 'v1', 'Pod'),
  '/openapi/v3/apis/apps/v1?hash=2': types('io.k8s.api.apps.v1.Deployment', 'apps', 'v1', 'Deployment'),
};

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly files: Map<string, string>;
  readonly accepts: Map<string, string>;
}

/** Runs the command against a server that answers with `documents`, 403 for null and 404 for the rest. */
async function capture(documents: Readonly<Record<string, object | null>>, ...flags: string[]): Promise<Outcome> {
  const accepts = new Map<string, string>();
  server = createServer({ key: serving.keyPem, cert: serving.pem }, (request, response) => {
    const url = request.url ?? '';
    accepts.set(url, request.headers.accept ?? '');
    const body = documents[url];
    response.writeHead(body ? 200 : body === null ? 403 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { message: 'not for you' }));
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(ca.pem).toString('base64') },
      },
    ],
    users: [{ name: 'u', user: { token: 'secret' } }],
  };
  let [out, err] = ['', ''];
  const files = new Map<string, string>();
  const surroundings = {
    stdout: (text: string) => (out += text),
    stderr: (text: string) => (err += text),
    stderrIsTerminal: false,
    environment: {},
    homeDirectory: '/nowhere',
    readFile: () => JSON.stringify(kubeconfig),
    nowMs: Date.now,
    writeFile: (path: string, text: string) => {
      if (path.startsWith('/readonly/')) throw Object.assign(new Error(path), { code: 'EROFS' });
      files.set(path, text);
    },
  } as unknown as Surroundings;
  const argv = ['surface', 'capture', '--kubeconfig=/k', ...flags];
  const code = await runStraddle(argv, surroundings, {
    proxy: notStarted,
    apiServer: notStarted,
    controlPlane: notStarted,
    rehearse: notStarted,
    testControlPlane: notStarted,
  });
  return { code, out, err, files, accepts };
}

describe('straddle surface capture', () => {
  it('writes built-in resources, without custom resources and aggregated APIs', async () => {
    const { code, out, err, accepts } = await capture(DOCUMENTS);
    expect(code).toBe(0);
    const surface = readSurface(out);
    expect(surface).toMatchObject({ version: '1.37', capturedFrom: 'v1.37.1-cloud.4' });
    expect(surface.groups.map(({ name }) => name)).toEqual(['', 'apps']);
    expect(surface.kind('apps', 'v1', 'Deployment')?.schema.properties).toHaveProperty('spec');
    expect(out).not.toContain('prose');
    expect(err).toContain('leaving out example.com/v1, metrics.example/v1');
    expect(err).toContain('2 resources, 2 types');
    expect(accepts.get('/apis')).toMatch(/v=v2;as=APIGroupDiscoveryList;profile=nopeer/);
  });

  it('writes the descriptions of built-in types in place of the surface with --descriptions', async () => {
    const { code, out, err } = await capture(DOCUMENTS, '--descriptions');
    expect(code).toBe(0);
    const descriptions = parseDescriptions(out, { file: 'standard output', remedy: 'read the test' });
    expect(descriptions).toMatchObject({ version: '1.37', capturedFrom: 'v1.37.1-cloud.4' });
    expect(descriptions.types).toEqual({
      'io.k8s.api.apps.v1.Deployment': { text: 'some prose about it' },
      'io.k8s.api.core.v1.Pod': { text: 'some prose about it' },
    });
    expect(err).toContain('descriptions of v1.37.1-cloud.4: 2 types, 0 fields');
  });

  it('writes to the file of --output', async () => {
    const { out, files, err } = await capture(DOCUMENTS, '--output=/tmp/1.37.json');
    expect(out).toBe('');
    expect(readSurface(files.get('/tmp/1.37.json')!).version).toBe('1.37');
    expect(err).toContain('written to /tmp/1.37.json');
  });

  it('continues without the right to list APIServices, and prints the consequence', async () => {
    const documents = { ...DOCUMENTS, '/apis/apiregistration.k8s.io/v1/apiservices': null };
    const openApi = { ...documents, '/openapi/v3/apis/example.com/v1?hash=3': {} };
    const { code, out, err } = await capture(openApi);
    expect(code).toBe(0);
    expect(readSurface(out).groups.map(({ name }) => name)).toContain('example.com');
    expect(err).toContain('APIServices cannot be read');
  });

  it.each<[string, Record<string, object | null>, string]>([
    ['a refusal', { '/version': null }, 'answered 403 to GET /version: not for you.'],
    ['something that is no API server', { '/version': { hello: 1 } }, 'is this a kube-apiserver?'],
    ['a server without aggregated discovery', { '/apis': { kind: 'APIGroupList' } }, 'since 1.27'],
    ['a server without OpenAPI v3', { '/openapi/v3': { paths: 1 } }, 'since 1.24'],
  ])('fails with one sentence for %s', async (_, documents, sentence) => {
    const { code, out, err } = await capture({ ...DOCUMENTS, ...documents });
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain(sentence);
  });

  it('names the file that cannot be written and the unknown flag', async () => {
    expect((await capture(DOCUMENTS, '--output=/readonly/x.json')).err).toContain(
      '/readonly/x.json cannot be written (EROFS)',
    );
    expect((await capture(DOCUMENTS, '--outptu=x')).err).toContain('Did you mean --output?');
  });
});
