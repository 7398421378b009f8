import { afterEach, describe, expect, it } from 'vitest';
import { makeCa, makeServer } from '../../../http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../../kube/json.js';
import { StatusError } from '../../../kube/status-error.js';
import type { Subresource } from '../../registry/resource-type.js';
import type { AdmissionRequest } from '../admission.js';
import { type HookBehaviour, startHookServer } from './hook-server.fixture.js';
import { mutatingWebhooks } from './mutating-webhooks.js';
import { validatingWebhooks } from './validating-webhooks.js';
import type { HookAnswer } from './webhook-cases.fixture.js';
import type { MatchVariables, WebhookDeps } from './webhook-deps.js';
import { CONFIG_MAP, hook, makeDeps, makeRequest, makeType, putConfiguration } from './webhooks.fixture.js';

const ca = makeCa('hooks');
const certificate = makeServer(ca, { dnsNames: ['hooks.shop.svc'] });
const configMaps = makeType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' });

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const answerWith = (response: { readonly [key: string]: Json }): HookAnswer => ({
  body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: '$UID', ...response } },
});
const ALLOWED = answerWith({ allowed: true });
const patchWith = (...operations: Json[]): HookAnswer =>
  answerWith({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  });
const setLabel = (key: string, value: string): Json => ({ op: 'add', path: `/metadata/labels/${key}`, value });

type Hooks = Record<string, { readonly [key: string]: Json }>;

async function setUp(
  kind: 'mutating' | 'validating',
  hooks: Hooks,
  behave: HookBehaviour,
  more: Partial<WebhookDeps> = {},
) {
  const server = await startHookServer(certificate, behave);
  const { deps, objects, outbound } = makeDeps(more);
  cleanups.push(
    () => outbound.close(),
    () => server.close(),
  );
  const at = { port: server.port, caPem: ca.pem };
  const configure = (which: Hooks) =>
    putConfiguration(
      objects,
      kind,
      'all',
      Object.entries(which).map(([name, extra]) => hook(name, at, extra)),
    );
  configure(hooks);
  const plugin = kind === 'mutating' ? mutatingWebhooks(deps) : validatingWebhooks(deps);
  const admit = async (request: AdmissionRequest) => {
    await plugin.mutate?.(request);
    await plugin.validate?.(request);
  };
  const asked = () => server.paths.map((path) => path.split('?')[0]!.slice(1));
  return { server, objects, admit, asked, at, configure };
}

async function failure(promise: Promise<unknown>): Promise<StatusError> {
  const outcome = await promise.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(StatusError);
  return outcome as StatusError;
}

const labelsOf = (object: JsonObject | null | undefined) => (object!['metadata'] as JsonObject)['labels'];
const reviewed = (review: JsonObject) => review['request'] as JsonObject;

describe('the choice of webhooks to call', () => {
  it('respects namespaceSelector, and objectSelector for the old and the new object', async () => {
    const { objects, admit, asked } = await setUp(
      'validating',
      {
        both: {},
        'namespace-yes': { namespaceSelector: { matchLabels: { team: 'a' } } },
        'namespace-no': {
          namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] },
        },
        'new-object': { objectSelector: { matchLabels: { app: 'new' } } },
        'old-object': { objectSelector: { matchLabels: { app: 'old' } } },
        'no-object': { objectSelector: { matchLabels: { app: 'other' } } },
      },
      () => ALLOWED,
    );
    objects.put({ group: '', resource: 'namespaces' }, { metadata: { name: 'default', labels: { team: 'a' } } });
    const { request } = makeRequest(configMaps, {
      operation: 'UPDATE',
      object: { metadata: { labels: { app: 'new' } } },
      oldObject: { metadata: { labels: { app: 'old' } } },
    });
    await admit(request);
    expect(asked().sort()).toEqual(['both', 'namespace-yes', 'new-object', 'old-object']);
  });

  it('matches namespaceSelector with the labels of a namespace itself, and fails for a namespace that is not found', async () => {
    const selected = { namespaceSelector: { matchLabels: { team: 'a' } } };
    const { admit, asked } = await setUp('validating', { a: selected }, () => ALLOWED);
    const namespaces = makeType({
      group: '',
      version: 'v1',
      resource: 'namespaces',
      kind: 'Namespace',
      namespaced: false,
    });
    const created = (team: string) =>
      makeRequest(namespaces, { namespace: 'x', object: { metadata: { name: 'x', labels: { team } } } }).request;
    await admit(created('b'));
    expect(asked()).toEqual([]);
    await admit(created('a'));
    expect(asked()).toEqual(['a']);
    const error = await failure(admit(makeRequest(configMaps, { namespace: 'gone' }).request));
    expect(error.status).toMatchObject({ code: 404, message: 'namespaces "gone" not found' });
    const nodes = makeType({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false });
    await admit(makeRequest(nodes, { namespace: '' }).request);
    expect(asked()).toEqual(['a', 'a']);
  });

  it('excludes every webhook for webhook configurations', async () => {
    const { admit, asked } = await setUp('validating', { a: {} }, () => answerWith({ allowed: false }));
    const type = makeType({
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      resource: 'validatingwebhookconfigurations',
      kind: 'ValidatingWebhookConfiguration',
    });
    await admit(makeRequest(type, { namespace: '' }).request);
    expect(asked()).toEqual([]);
  });

  it('respects matchConditions, and treats an evaluation error by the failure policy', async () => {
    const seen: MatchVariables[] = [];
    const compileMatchCondition = (expression: string) => {
      if (expression === 'syntax') throw new Error('compilation failed');
      return (variables: MatchVariables) => {
        seen.push(variables);
        if (expression === 'throw') throw new Error("expression 'throw' resulted in error: no such key");
        return expression === 'yes';
      };
    };
    const when = (...expressions: string[]) => ({
      matchConditions: expressions.map((expression) => ({ name: expression, expression })),
    });
    const hooks = {
      yes: when('yes', 'yes'),
      no: when('throw', 'no'),
      ignored: { ...when('throw'), failurePolicy: 'Ignore' },
    };
    const { admit, asked, configure } = await setUp('validating', hooks, () => ALLOWED, { compileMatchCondition });
    await admit(makeRequest(configMaps).request);
    expect(asked()).toEqual(['yes']);
    expect(seen[0]).toMatchObject({ object: CONFIG_MAP, oldObject: null, request: { operation: 'CREATE' } });
    expect(seen[0]!.request).not.toHaveProperty('object');

    configure({ failing: when('throw', 'syntax') });
    const error = await failure(admit(makeRequest(configMaps).request));
    expect(error.status).toMatchObject({
      code: 403,
      message: `configmaps "x" is forbidden: [expression 'throw' resulted in error: no such key, compilation failed]`,
      details: { name: 'x', kind: 'configmaps' },
    });
  });

  it('respects a changed configuration at once', async () => {
    const { admit, asked, configure } = await setUp('validating', { a: {} }, () => ALLOWED);
    await admit(makeRequest(configMaps).request);
    configure({ b: {} });
    await admit(makeRequest(configMaps).request);
    expect(asked()).toEqual(['a', 'b']);
  });
});

describe('a webhook for another version of a resource', () => {
  const only = (version: string) => ({
    rules: [
      { operations: ['*'], apiGroups: ['demo.test'], apiVersions: [version], resources: ['gadgets', 'gadgets/*'] },
    ],
  });
  const scale: Subresource = {
    name: 'scale',
    kind: 'Scale',
    kindGroup: 'autoscaling',
    kindVersion: 'v1',
    verbs: new Set(['update']),
  };
  const make = (version: string, field: string, other: string) =>
    makeType({
      group: 'demo.test',
      version,
      resource: 'gadgets',
      kind: 'Gadget',
      origin: 'custom',
      subresources: new Map([['scale', scale]]),
      conversion: {
        isTrivial: false,
        toStored: async (objects) => objects.map((each) => rename(each, field, 'stored', 'demo.test/stored')),
        toServed: async (objects) =>
          objects.map((each) => rename(rename(each, other, field, ''), 'stored', field, `demo.test/${version}`)),
      },
    });
  const rename = (object: JsonObject, from: string, to: string, apiVersion: string): JsonObject => {
    const { [from]: value, ...rest } = object;
    return { ...rest, ...(value === undefined ? {} : { [to]: value }), ...(apiVersion === '' ? {} : { apiVersion }) };
  };
  const v1 = make('v1', 'one', 'two');
  const v2 = make('v2', 'two', 'one');
  const equivalentTypes = () => [v1, v2];
  const GADGET = { apiVersion: 'demo.test/v1', kind: 'Gadget', metadata: { name: 'x' }, one: 'value' };

  it('gets the object in the version of its rule, and its patch is converted to the version of the request', async () => {
    const { admit, server } = await setUp(
      'mutating',
      { exact: { ...only('v2'), matchPolicy: 'Exact' }, equivalent: only('v2') },
      () => patchWith({ op: 'replace', path: '/two', value: 'changed' }),
      { equivalentTypes },
    );
    const { request } = makeRequest(v1, { object: GADGET });
    await admit(request);
    expect(server.reviews).toHaveLength(1);
    expect(reviewed(server.reviews[0]!)).toMatchObject({
      kind: { group: 'demo.test', version: 'v2', kind: 'Gadget' },
      resource: { group: 'demo.test', version: 'v2', resource: 'gadgets' },
      requestKind: { version: 'v1' },
      requestResource: { version: 'v1' },
      object: { apiVersion: 'demo.test/v2', two: 'value' },
    });
    expect(request.object).toEqual({ ...GADGET, one: 'changed' });
  });

  it('gets a subresource in the kind of the subresource', async () => {
    const { admit, server } = await setUp('validating', { a: only('v2') }, () => ALLOWED, { equivalentTypes });
    const object = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 3 } };
    await admit(makeRequest(v1, { operation: 'UPDATE', subresource: 'scale', object }).request);
    expect(reviewed(server.reviews[0]!)).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      subResource: 'scale',
      requestSubResource: 'scale',
      resource: { version: 'v2' },
      object,
    });
  });
});

describe('mutating webhooks', () => {
  it('are called in the order of their configurations, each with the patches of those before it', async () => {
    const { admit, server, objects, at } = await setUp('mutating', { m: {} }, (path) =>
      patchWith(setLabel(path.slice(1), 'done')),
    );
    putConfiguration(objects, 'mutating', 'zz', [hook('z', at)]);
    putConfiguration(objects, 'mutating', 'aa', [hook('a', at), hook('b', at)]);
    const { request } = makeRequest(configMaps);
    await admit(request);
    expect(server.reviews.map((review) => Object.keys(labelsOf(reviewed(review)['object'] as JsonObject)!))).toEqual([
      ['app'],
      ['app', 'a'],
      ['app', 'a', 'b'],
      ['app', 'a', 'b', 'm'],
    ]);
    expect(labelsOf(request.object)).toEqual({ app: 'demo', a: 'done', b: 'done', m: 'done', z: 'done' });
    expect(labelsOf(CONFIG_MAP)).toEqual({ app: 'demo' });
  });

  it('are called once more with reinvocationPolicy IfNeeded if a later change was made to the object', async () => {
    const { admit, asked } = await setUp(
      'mutating',
      { early: { reinvocationPolicy: 'IfNeeded' }, never: {}, changes: {}, late: { reinvocationPolicy: 'IfNeeded' } },
      (path) => (path === '/changes' ? patchWith(setLabel('x', 'y')) : ALLOWED),
    );
    await admit(makeRequest(configMaps).request);
    expect(asked()).toEqual(['early', 'never', 'changes', 'late', 'early']);
  });

  it('are not called again if nothing changed, or if they made the last change', async () => {
    const policy = { reinvocationPolicy: 'IfNeeded' };
    const quiet = await setUp('mutating', { a: policy, b: policy }, () => patchWith(setLabel('app', 'demo')));
    await quiet.admit(makeRequest(configMaps).request);
    expect(quiet.asked()).toEqual(['a', 'b']);
    const alone = await setUp('mutating', { a: policy }, () => patchWith(setLabel('x', 'y')));
    await alone.admit(makeRequest(configMaps).request);
    expect(alone.asked()).toEqual(['a']);
  });

  it('get the object with changes of built-in plugins when they are called again', async () => {
    const { admit, asked, server } = await setUp(
      'mutating',
      { a: { reinvocationPolicy: 'IfNeeded' } },
      () => patchWith(setLabel('x', 'y')),
      {
        reinvokeBuiltIns: async (request) => {
          (labelsOf(request.object) as JsonObject)['derived'] = 'yes';
        },
      },
    );
    await admit(makeRequest(configMaps).request);
    expect(asked()).toEqual(['a', 'a']);
    expect(labelsOf(reviewed(server.reviews[1]!)['object'] as JsonObject)).toMatchObject({ derived: 'yes' });
  });

  it('are refused a patch for a deletion', async () => {
    const { admit } = await setUp('mutating', { a: {} }, () => patchWith(setLabel('x', 'y')));
    const { request } = makeRequest(configMaps, { operation: 'DELETE', object: undefined, oldObject: CONFIG_MAP });
    expect((await failure(admit(request))).message).toBe(
      'Internal error occurred: admission webhook "a.hooks.test" attempted to modify the object, which is not supported for this operation',
    );
  });
});

describe('validating webhooks', () => {
  it('are called concurrently, and the first denial in order is the answer', async () => {
    let waiting = 0;
    let release = () => {};
    const allAsked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { admit, asked } = await setUp('validating', { a: {}, b: {}, c: {} }, async (path) => {
      if (++waiting === 3) release();
      await allAsked;
      return path === '/a' ? ALLOWED : answerWith({ allowed: false, status: { message: `not by ${path}` } });
    });
    const error = await failure(admit(makeRequest(configMaps).request));
    expect(error.message).toBe('admission webhook "b.hooks.test" denied the request: not by /b');
    expect(asked().sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('a dry-run request with webhooks', () => {
  it.each(['None', 'NoneOnDryRun'])(
    'calls a webhook with sideEffects %s, with dryRun in the review',
    async (sideEffects) => {
      const { admit, server } = await setUp('validating', { a: { sideEffects } }, () => ALLOWED);
      await admit(makeRequest(configMaps, { dryRun: true }).request);
      expect(reviewed(server.reviews[0]!)['dryRun']).toBe(true);
    },
  );

  it.each(['Some', 'Unknown'])(
    'fails without a call for a webhook with sideEffects %s, whatever its failure policy',
    async (sideEffects) => {
      const { admit, asked } = await setUp('mutating', { a: { sideEffects, failurePolicy: 'Ignore' } }, () => ALLOWED);
      const error = await failure(admit(makeRequest(configMaps, { dryRun: true }).request));
      expect(error.status).toMatchObject({
        code: 400,
        reason: 'BadRequest',
        message: 'admission webhook "a.hooks.test" does not support dry run',
      });
      expect(asked()).toEqual([]);
    },
  );
});

describe('a webhook behind a service', () => {
  it('is called at an endpoint of the service, with a certificate for the name of the service', async () => {
    const { admit, objects, server, asked, configure } = await setUp('validating', {}, () => ALLOWED);
    const named = { namespace: 'shop', name: 'hooks' };
    const caBundle = Buffer.from(ca.pem).toString('base64');
    configure({ a: { clientConfig: { service: { ...named, path: '/a/' }, caBundle }, timeoutSeconds: 3 } });
    objects.put({ group: '', resource: 'services' }, { metadata: named, spec: { ports: [{ port: 443 }] } });
    objects.put(
      { group: 'discovery.k8s.io', resource: 'endpointslices' },
      {
        metadata: { namespace: 'shop', name: 'hooks-1', labels: { 'kubernetes.io/service-name': 'hooks' } },
        ports: [{ name: '', port: server.port }],
        endpoints: [{ addresses: ['127.0.0.1'] }],
      },
    );
    await admit(makeRequest(configMaps).request);
    expect(server.paths).toEqual(['/a?timeout=3s']);
    expect(asked()).toEqual(['a']);
  });

  it('is a failed call if it accepts no known AdmissionReview version', async () => {
    const { admit } = await setUp('validating', { a: { admissionReviewVersions: ['v7'] } }, () => ALLOWED);
    expect((await failure(admit(makeRequest(configMaps).request))).message).toBe(
      'Internal error occurred: failed calling webhook "a.hooks.test": could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  });
});
