import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { isObject, type Json, type JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import { parseToken } from '../authentication/json-web-token.js';
import { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import { TokenAuthenticator, withAuthenticated } from '../authentication/token-authenticator.js';
import { readTokenFile } from '../authentication/token-file.js';
import { createRbacAuthorizer } from '../authorization/rbac.js';
import { MASTERS_GROUP, type User } from '../contracts/user.js';
import { type RecordedCase, recorded, recordedWorld, TOKEN_FILE, user } from './recorded.fixture.js';
import { type ReviewDependencies, type ReviewRequest, reviews } from './reviews.js';

const AUDIENCE = 'https://kubernetes.default.svc';
const clock = new ManualClock(Date.UTC(2026, 10, 16, 4));
const signingKeyPem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string;

function dependencies(): ReviewDependencies {
  const objects = recordedWorld();
  const authorizer = createRbacAuthorizer(objects);
  const tokens = new ServiceAccountTokens({
    objects,
    issuers: [AUDIENCE],
    apiAudiences: [AUDIENCE],
    signingKeyPem,
    clock,
  });
  const staticTokens = readTokenFile(TOKEN_FILE);
  return {
    objects,
    authorizer,
    rulesFor: (who, namespace) => authorizer.rulesFor(who, namespace),
    tokens,
    authenticator: new TokenAuthenticator({ apiAudiences: [AUDIENCE], staticTokens, serviceAccounts: tokens }),
  };
}

/** Who a recorded request was made as. */
function requesterOf({ requester, headers = [] }: RecordedCase): User {
  if (requester !== undefined) return withAuthenticated(readTokenFile(TOKEN_FILE).get(`${requester}-token`)!);
  if (headers.length === 0) return user('admin', MASTERS_GROUP, 'system:authenticated');
  const groups = headers.filter((_, index) => headers[index - 1] === 'Impersonate-Group');
  return user(headers[1]!, ...groups);
}

async function ask(each: RecordedCase, deps: ReviewDependencies, body: JsonObject): Promise<JsonObject> {
  const [, prefix, rest] = /^\/(api|apis\/[^/]+)\/v1\/(.*)$/.exec(each.path)!;
  const group = prefix === 'api' ? '' : prefix!.slice('apis/'.length);
  const segments = rest!.split('/');
  const namespace = segments[0] === 'namespaces' ? segments[1]! : '';
  const [resource, name = '', subresource] = namespace === '' ? segments : segments.slice(2);
  const handler = reviews.get(subresource ? `${group}/${resource}/${subresource}` : `${group}/${resource}`);
  if (!handler) throw new Error(`nobody answers ${each.path}`);
  const request: ReviewRequest = {
    object: body,
    user: requesterOf(each),
    namespace,
    name,
    admit: async () => {},
  };
  try {
    return await handler(request, deps);
  } catch (error) {
    if (error instanceof StatusError) return error.status as unknown as JsonObject;
    throw error;
  }
}

/** What differs from run to run is left out on both sides. */
function comparable(value: Json): Json {
  if (typeof value === 'string') {
    return value
      .replace(/,?"managedFields":\[.*?\}\}\}+\]/g, '')
      .replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'a time')
      .replace(/^JTI=[0-9a-f-]{36}$/, 'JTI=an id');
  }
  if (Array.isArray(value)) return value.map(comparable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]));
}

/** The same as recorded: what a token says in place of the token, times as seconds from when it was made. */
function withClaims(answer: JsonObject): JsonObject {
  const status = answer.status as JsonObject;
  const token = status.token;
  const parsed = typeof token === 'string' ? parseToken(token)! : undefined;
  const said = parsed ? { head: { alg: parsed.algorithm, kid: 'k' }, claims: parsed.claims } : (token as JsonObject);
  const claims = { ...(said.claims as JsonObject) };
  const start = claims.iat as number;
  const seconds = (time: Json | undefined) => (time as number) - start;
  const kubernetesClaim = claims['kubernetes.io'] as JsonObject;
  const metadata = answer.metadata as JsonObject;
  const expires = Date.parse(status.expirationTimestamp as string) - Date.parse(metadata.creationTimestamp as string);
  return {
    ...answer,
    status: {
      expires,
      head: { ...(said.head as JsonObject), kid: 'k' },
      claims: {
        ...claims,
        jti: 'an id',
        iat: 0,
        nbf: seconds(claims.nbf),
        exp: seconds(claims.exp),
        'kubernetes.io':
          'warnafter' in kubernetesClaim
            ? { ...kubernetesClaim, warnafter: seconds(kubernetesClaim.warnafter) }
            : kubernetesClaim,
      },
    },
  };
}

/** kube-apiserver lists bindings in any order. */
function inAnyOrder(answer: JsonObject): JsonObject {
  const status = answer.status as JsonObject;
  const sorted = (list: Json | undefined) => (list as Json[]).map((each) => JSON.stringify(sortKeys(each))).sort();
  return {
    ...answer,
    status: {
      ...status,
      resourceRules: sorted(status.resourceRules),
      nonResourceRules: sorted(status.nonResourceRules),
    },
  };
}

function sortKeys(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function form(answer: JsonObject): Json {
  if (answer.kind === 'TokenRequest') return comparable(withClaims(answer));
  if (answer.kind === 'SelfSubjectRulesReview') return comparable(inAnyOrder(answer));
  return comparable(answer);
}

describe('reviews have the status recorded from kube-apiserver', () => {
  const deps = dependencies();
  const account = recorded.world.find((object) => (object.metadata as JsonObject).name === 'builder')!;
  const builder = { namespace: 'access', name: 'builder', uid: (account.metadata as JsonObject).uid as string };
  const uidOf = (kind: string) =>
    (recorded.world.find((object) => object.kind === kind)!.metadata as JsonObject).uid as string;
  const issued = deps.tokens.issue({ ...builder, audiences: [AUDIENCE], expirationSeconds: 3600 });
  const variables: Record<string, string> = {
    $TOKEN_CHANGED: `${issued.slice(0, -4)}AAAA`,
    $POD_TOKEN: deps.tokens.issue({
      ...builder,
      audiences: ['a', 'b'],
      expirationSeconds: 3600,
      boundObject: {
        kind: 'Pod',
        name: 'worker',
        uid: uidOf('Pod'),
        node: { name: 'node-a', uid: uidOf('Node') },
      },
    }),
    $TOKEN: issued,
  };

  it.each(recorded.reviews.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    const token = ((each.body?.spec as JsonObject | undefined)?.token ?? '') as string;
    const sent = {
      ...each.body!,
      ...(variables[token] ? { spec: { ...(each.body!.spec as JsonObject), token: variables[token]! } } : {}),
    };
    const answer = await ask(each, deps, sent);
    if (variables[token]) answer.spec = each.body!.spec!;
    expect(form(answer)).toEqual(form(each.answer));
  });
});

describe('tokenRequest', () => {
  const request = (spec: JsonObject, deps: ReviewDependencies) =>
    reviews.get('/serviceaccounts/token')!(
      {
        object: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
        user: user('admin'),
        namespace: 'access',
        name: 'builder',
        admit: async () => {},
      },
      deps,
    );

  it('issues a token that a TokenReview accepts', async () => {
    const deps = dependencies();
    const token = ((await request({}, deps)).status as JsonObject).token as string;
    const review = await ask(
      { name: '', method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', status: 201, answer: {} },
      deps,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    );
    expect(review.status).toMatchObject({ authenticated: true, audiences: [AUDIENCE] });
  });
});

describe('malformed reviews', () => {
  it.each([
    ['subjectaccessreviews', { spec: 'x' }],
    ['subjectaccessreviews', { spec: { resourceAttributes: [], user: 5 } }],
    ['selfsubjectaccessreviews', { metadata: 7, spec: null }],
  ])('%s of %j is refused as invalid', (resource, body) => {
    const handler = reviews.get(`authorization.k8s.io/${resource}`)!;
    const request = {
      object: body as unknown as JsonObject,
      user: user('x'),
      namespace: '',
      name: '',
      admit: async () => {},
    };
    return expect(handler(request, dependencies())).rejects.toThrow(StatusError);
  });
});
