import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BodyStream, readBody } from '../../http/body-stream.js';
import type { Identity } from '../../http/identity.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { startTestApiServer, type TestApiServer } from '../api-server.fixture.js';
import { MASTERS_GROUP } from '../contracts/user.js';
import type { Outbound } from '../outbound/outbound.js';
import { type AccessSpec, isWriter, rightOf, shownAccess, shownAnswer, shownReview, TESTER } from './asked.fixture.js';
import type { Attributes, Authorizer } from './authorizer.js';
import { DIFFERENT, differenceOf, type RecordedDifference } from './recorded-differences.fixture.js';

interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly headers?: readonly string[];
}

interface RecordedCase extends RecordedRequest {
  readonly name: string;
  readonly setup?: readonly RecordedRequest[];
  readonly deny?: readonly string[];
  readonly asked: readonly JsonObject[];
  readonly answer: JsonObject;
}

const recorded = JSON.parse(readFileSync(new URL('./authorization.recorded.json', import.meta.url), 'utf8')) as {
  readonly world: readonly RecordedRequest[];
  readonly cases: readonly RecordedCase[];
};

const TESTER_IDENTITY: Identity = {
  kind: 'established',
  user: TESTER.name,
  uid: TESTER.uid,
  groups: [TESTER.group],
  extra: new Map(),
};
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

let server: TestApiServer;
let asked: JsonObject[] = [];
let denied: readonly string[] = [];

function specOf(attributes: Attributes): AccessSpec {
  const { name: user, uid, groups, extra } = attributes.user;
  const who = { user, uid, groups, extra: Object.fromEntries(extra) };
  if ('path' in attributes) {
    return { ...who, nonResourceAttributes: { path: attributes.path, verb: attributes.verb } };
  }
  const { user: _, ...resourceAttributes } = attributes;
  return { ...who, resourceAttributes };
}

/** Grants everything but what the case refuses, and keeps each question. Administrators are not asked about. */
const recordingAuthorizer = (rbac: Authorizer): Authorizer => ({
  authorize: (attributes) => {
    if (attributes.user.groups.includes(MASTERS_GROUP)) return rbac.authorize(attributes);
    const spec = specOf(attributes);
    const allowed = !denied.includes(rightOf(spec));
    asked.push(shownAccess(spec, allowed));
    return { allowed, reason: '' };
  },
});

/** Webhooks that allow everything and keep each review. */
const outbound: Outbound = {
  call: async (_, { path, body }) => {
    const review = JSON.parse(Buffer.from(body!).toString()) as JsonObject;
    if (isWriter(review)) asked.push(shownReview(path.slice(1).split('?', 1)[0]!, review));
    const response = { uid: (review['request'] as JsonObject)['uid']!, allowed: true };
    const answer = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
    return { status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from(JSON.stringify(answer)) };
  },
};

const configuration = (kind: string): JsonObject => ({
  metadata: { name: 'all' },
  webhooks: [
    {
      name: 'all.hooks.test',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }],
      clientConfig: { url: `https://127.0.0.1:9/${kind}` },
    },
  ],
});

async function send({ method, path, body, headers = [] }: RecordedRequest, as?: Identity): Promise<JsonObject> {
  const reply = await server.sendRaw(method, path, {
    headers: ['User-Agent', 'tester/1.0', 'Accept', 'application/json', ...withContentType(headers, body)],
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(as ? { as } : {}),
  });
  const isWatch = /[?&]watch=|\/watch\//.test(path) && reply.status === 200;
  if (isWatch) (reply.body as BodyStream).cancel(new Error('seen enough'));
  const text = isWatch ? '' : (await readBody(reply.body, 64 * 2 ** 20)).toString('utf8');
  return shownAnswer(reply.status, text);
}

function withContentType(headers: readonly string[], body: Json | undefined): readonly string[] {
  if (body === undefined || headers.includes('content-type')) return headers;
  return [...headers, 'content-type', 'application/json'];
}

async function succeed(request: RecordedRequest): Promise<void> {
  const answer = await send(request);
  if ((answer['status'] as number) >= 300) throw new Error(`${request.path}: ${JSON.stringify(answer)}`);
}

/** Definitions are served a moment after they are made. */
async function untilServed(path: string): Promise<void> {
  while ((await send({ method: 'GET', path }))['status'] !== 200) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

beforeAll(async () => {
  server = await startTestApiServer({ outbound, authorizerOver: recordingAuthorizer });
  for (const request of recorded.world) await succeed(request);
  await untilServed('/apis/example.test/v1/widgets');
  await untilServed('/apis/example.test/v1/gadgets');
  for (const kind of ['mutating', 'validating']) {
    const path = `${REGISTRATION}/${kind}webhookconfigurations`;
    await succeed({ method: 'POST', path, body: configuration(kind) });
  }
});
afterAll(() => server.close());

describe('authorization checks and webhook reviews of a request are those recorded from kube-apiserver', () => {
  it.each(recorded.cases.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    for (const request of each.setup ?? []) await succeed(request);
    denied = each.deny ?? [];
    asked = [];
    const answer = await send(each, TESTER_IDENTITY);
    compare({ asked, answer }, each, differenceOf(each.name));
  });

  it('differ from the record in the declared cases only', () => {
    const names = new Set(recorded.cases.map(({ name }) => name));
    expect([...DIFFERENT].filter((name) => !names.has(name))).toEqual([]);
    const counts: Record<string, number> = { rows: recorded.cases.length, equal: 0 };
    for (const { name } of recorded.cases) {
      const kind = differenceOf(name)?.kind ?? 'equal';
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    expect(counts).toEqual({
      rows: 565,
      equal: 508,
      selectors: 27,
      answer: 20,
      order: 6,
      'refused-earlier': 4,
    });
  });
});

interface Outcome {
  readonly asked: readonly JsonObject[];
  readonly answer: JsonObject;
}

const withoutSelectors = (asked: readonly JsonObject[]): JsonObject[] =>
  asked.map(({ labelSelector: _, fieldSelector: __, ...rest }) => rest);

const inAnyOrder = (asked: readonly JsonObject[]): string[] =>
  asked.map((each) => JSON.stringify(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();

/** Equal but for the declared difference, which must be there: a difference that is gone has to be taken off the list. */
function compare(actual: Outcome, real: Outcome, difference: RecordedDifference | undefined): void {
  if (difference?.kind === 'answer') expect(actual.answer, difference.why).not.toEqual(real.answer);
  else expect(actual.answer).toEqual(real.answer);
  if (difference === undefined || difference.kind === 'answer') {
    expect(actual.asked).toEqual(real.asked);
    return;
  }
  expect(actual.asked, difference.why).not.toEqual(real.asked);
  if (difference.kind === 'selectors') expect(actual.asked).toEqual(withoutSelectors(real.asked));
  if (difference.kind === 'order') expect(inAnyOrder(actual.asked)).toEqual(inAnyOrder(real.asked));
}
