import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../kube/json.js';
import type { OutboundAnswer, OutboundRequest, OutboundTarget } from '../outbound/outbound.js';
import type { Conversion } from '../registry/resource-type.js';
import { CONVERSION_BATCH_MAX, trivialConversion, webhookConversion } from './conversion.js';

const VERSIONS = { servedApiVersion: 'example.com/v2', storedApiVersion: 'example.com/v1' };

interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: JsonObject[] };
}

type Answer = (review: Review) => Json | OutboundAnswer | Error;

const widget = (name: string, apiVersion = 'example.com/v1'): JsonObject => ({
  apiVersion,
  kind: 'Widget',
  metadata: { name, namespace: 'a', uid: `uid-${name}`, labels: { a: 'b' }, generation: 3 },
  spec: { n: 1 },
});

const renamed = ({ request }: Review, change: (object: JsonObject) => JsonObject = (object) => object): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: {
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: request.objects.map((each) => change({ ...each, apiVersion: request.desiredAPIVersion })),
  },
});

function converter(answer: Answer, config: JsonObject = { url: 'https://hook.test/convert', caBundle: 'Y2E=' }) {
  const calls: { target: OutboundTarget; request: OutboundRequest; review: Review }[] = [];
  const conversion: Conversion = webhookConversion(
    { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v2', 'v1'], clientConfig: config } },
    VERSIONS,
    {
      outbound: {
        call: (target, request) => {
          const review = JSON.parse(Buffer.from(request.body!).toString('utf8')) as Review;
          calls.push({ target, request, review });
          const made = answer(review);
          if (made instanceof Error) return Promise.reject(made);
          const isAnswer = typeof made === 'object' && made !== null && 'body' in made;
          if (isAnswer) return Promise.resolve(made as unknown as OutboundAnswer);
          return Promise.resolve({ status: 200, headers: [], body: Buffer.from(JSON.stringify(made)) });
        },
      },
      resolveService: ({ namespace, name }) => ({ address: '10.0.0.1:8443', serverName: `${name}.${namespace}.svc` }),
    },
  );
  return { conversion, calls };
}

describe('trivialConversion', () => {
  it('changes only the apiVersion', async () => {
    const conversion = trivialConversion(VERSIONS);
    expect(await conversion.toServed([widget('a')])).toEqual([widget('a', 'example.com/v2')]);
    expect(await conversion.toStored([widget('a', 'example.com/v2')])).toEqual([widget('a')]);
  });
});

describe('webhookConversion', () => {
  it('sends only objects of another version, and keeps their order', async () => {
    const { conversion, calls } = converter((review) => renamed(review));
    const converted = await conversion.toServed([widget('a'), widget('b', 'example.com/v2'), widget('c')]);
    expect(converted).toEqual(['a', 'b', 'c'].map((name) => widget(name, 'example.com/v2')));
    expect(calls).toHaveLength(1);
    const [{ target, request, review }] = calls as [(typeof calls)[0]];
    expect(review.apiVersion).toBe('apiextensions.k8s.io/v1');
    expect(review.request.objects.map((each) => (each['metadata'] as JsonObject)['name'])).toEqual(['a', 'c']);
    expect(target).toMatchObject({ address: 'hook.test:443', serverName: 'hook.test', caBundle: 'ca' });
    expect(request).toMatchObject({ method: 'POST', path: '/convert?timeout=30s', timeoutMs: 30_000 });
  });

  it('does not call the webhook if every object has the wanted version', async () => {
    const { conversion, calls } = converter(() => new Error('called'));
    expect(await conversion.toServed([widget('b', 'example.com/v2')])).toEqual([widget('b', 'example.com/v2')]);
    expect(calls).toEqual([]);
  });

  it('resolves the service of the webhook for every call', async () => {
    const service = { namespace: 'ns', name: 'svc', path: '/c', port: 8443 };
    const { conversion, calls } = converter((review) => renamed(review), { service });
    await conversion.toServed([widget('a')]);
    expect(calls[0]!.target).toMatchObject({ address: '10.0.0.1:8443', serverName: 'svc.ns.svc', caBundle: undefined });
  });

  it('splits a long list into several requests', async () => {
    const { conversion, calls } = converter((review) => renamed(review));
    const many = Array.from({ length: CONVERSION_BATCH_MAX + 1 }, (_, index) => widget(`w${index}`));
    expect(await conversion.toServed(many)).toHaveLength(many.length);
    expect(calls.map(({ review }) => review.request.objects.length)).toEqual([CONVERSION_BATCH_MAX, 1]);
  });

  it('accepts changes of labels and annotations by the webhook, and of no other metadata', async () => {
    const change = (object: JsonObject): JsonObject => ({
      ...object,
      spec: { m: 1 },
      metadata: { ...(object['metadata'] as JsonObject), labels: { c: 'd' }, generation: 99, finalizers: ['x/y'] },
    });
    const { conversion } = converter((review) => renamed(review, change));
    expect((await conversion.toServed([widget('a')]))[0]).toEqual({
      ...widget('a', 'example.com/v2'),
      spec: { m: 1 },
      metadata: { ...(widget('a')['metadata'] as JsonObject), labels: { c: 'd' } },
    });
  });

  const metadata = (more: JsonObject) => (review: Review) =>
    renamed(review, (object) => ({ ...object, metadata: { ...(object['metadata'] as JsonObject), ...more } }));
  const HEAD = 'conversion webhook for example.com/v1, Kind=Widget';

  it.each<[string, Answer]>([
    [
      `${HEAD} failed: Post "https://hook.test/convert?timeout=30s": connection refused`,
      () => new Error('connection refused'),
    ],
    [
      `${HEAD} failed: an error on the server ("oops") has prevented the request from succeeding`,
      () => ({ status: 500, headers: [], body: Buffer.from('oops') }) as unknown as OutboundAnswer,
    ],
    [
      `${HEAD} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got v1, Kind=Status`,
      () => ({ apiVersion: 'v1', kind: 'Status' }),
    ],
    [
      `${HEAD} failed: no response provided`,
      () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
    ],
    [
      `${HEAD} failed: expected response.uid=`,
      (review) => renamed({ ...review, request: { ...review.request, uid: 'x' } }),
    ],
    [
      `${HEAD} failed: cannot do that`,
      (review) => {
        const answer = renamed(review) as { response: JsonObject };
        answer.response['result'] = { status: 'Failure', message: 'cannot do that' };
        return answer as unknown as Json;
      },
    ],
    [
      `${HEAD} returned 0 objects, expected 1`,
      (review) => renamed({ ...review, request: { ...review.request, objects: [] } }),
    ],
    [
      `${HEAD} returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received v9)`,
      (review) => renamed(review, (object) => ({ ...object, apiVersion: 'v9' })),
    ],
    [`${HEAD} returned invalid converted object at index 0: must have the same name: a != b`, metadata({ name: 'b' })],
    [
      `${HEAD} returned invalid converted object at index 0: must have the same UID: uid-a != x`,
      metadata({ uid: 'x' }),
    ],
    [
      `${HEAD} returned invalid converted object at index 0: metadata.labels[a] must be a string`,
      metadata({ labels: { a: 1 } }),
    ],
    [
      `${HEAD} returned invalid converted object at index 0: missing metadata in converted object`,
      (review) => renamed(review, ({ metadata: _, ...object }) => object),
    ],
  ])('fails with %s', async (message, answer) => {
    await expect(converter(answer).conversion.toServed([widget('a')])).rejects.toThrow(message);
  });
});
