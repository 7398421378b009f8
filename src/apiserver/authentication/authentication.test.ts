import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { Attributes } from '../authorization/authorizer.js';
import { createRbacAuthorizer } from '../authorization/rbac.js';
import { MASTERS_GROUP, type User } from '../contracts/user.js';
import { type RecordedCase, recorded, recordedWorld, TOKEN_FILE, user } from '../reviews/recorded.fixture.js';
import { userInfo } from '../reviews/review-object.js';
import { ConstrainedImpersonation } from './constrained-impersonation.js';
import { impersonatedUser } from './impersonation.js';
import { TokenAuthenticator, withAuthenticated } from './token-authenticator.js';
import { readTokenFile, TokenFileError } from './token-file.js';

const rbac = createRbacAuthorizer(recordedWorld());
const authorize = (attributes: Attributes) => rbac.authorize(attributes);
const staticTokens = readTokenFile(TOKEN_FILE);

function requesterOf({ requester }: RecordedCase): User {
  if (requester === undefined) return user('admin', MASTERS_GROUP, 'system:authenticated');
  return withAuthenticated(staticTokens.get(`${requester}-token`)!);
}

function attributesOf(each: RecordedCase): Attributes {
  const who = requesterOf(each);
  const [path] = each.path.split('?');
  if (path === '/version') return { user: who, verb: 'get', path };
  const isReview = path!.includes('selfsubjectreviews');
  return {
    user: who,
    verb: isReview ? 'create' : 'list',
    group: isReview ? 'authentication.k8s.io' : '',
    version: 'v1',
    resource: isReview ? 'selfsubjectreviews' : 'pods',
    subresource: '',
    namespace: isReview ? '' : 'access',
    name: '',
  };
}

function outcome(run: () => User | undefined): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
}

describe('impersonation is decided as recorded from kube-apiserver', () => {
  // One for all: it remembers, as the real one did when the cases were recorded in this order.
  const impersonation = new ConstrainedImpersonation(authorize);

  it.each(recorded.impersonation.map((each) => [each.name, each] as const))('%s', (_, each) => {
    const result = outcome(() => impersonation.impersonatedUser(each.headers!, attributesOf(each)));
    const { answer } = each;
    const isRefusedLater = /User "(erin|x|system:anonymous)" cannot/.test(String(answer.message));
    if (each.status === 201) {
      expect(userInfo(result as User)).toEqual((answer.status as JsonObject).userInfo);
    } else if (isRefusedLater) {
      expect(result).toMatchObject({ name: each.headers![1] });
    } else {
      expect(result).toEqual(answer);
    }
  });
});

describe('impersonatedUser', () => {
  const alice = requesterOf({ requester: 'alice' } as RecordedCase);

  it('is undefined without impersonation headers', () => {
    expect(impersonatedUser(['Accept', '*/*'], alice, authorize)).toBeUndefined();
  });

  it('throws Forbidden with the missing verb in the message', () => {
    const refused = outcome(() => impersonatedUser(['impersonate-user', 'mallory'], alice, authorize));
    const later = recorded.impersonation.find(({ name }) => name === 'another user')!;
    expect(refused).toEqual(later.answer);
  });

  it('requires a right for each part of the user', () => {
    const asked: string[] = [];
    const headers = [
      ...['Impersonate-User', 'system:serviceaccount:ns:sa', 'Impersonate-Group', 'g1', 'IMPERSONATE-GROUP', 'g2'],
      ...['Impersonate-Uid', 'u', 'Impersonate-Extra-Scopes', 'a', 'impersonate-extra-scopes', 'b'],
    ];
    const result = impersonatedUser(headers, alice, (each) => {
      if ('resource' in each)
        asked.push(`${each.group}|${each.resource}|${each.subresource}|${each.namespace}|${each.name}`);
      return { allowed: true, reason: '' };
    });
    expect(asked).toEqual([
      '|serviceaccounts||ns|sa',
      '|groups|||g1',
      '|groups|||g2',
      'authentication.k8s.io|userextras|scopes||a',
      'authentication.k8s.io|userextras|scopes||b',
      'authentication.k8s.io|uids|||u',
    ]);
    expect(result).toEqual({
      name: 'system:serviceaccount:ns:sa',
      uid: 'u',
      groups: ['g1', 'g2', 'system:authenticated'],
      extra: new Map([['scopes', ['a', 'b']]]),
    });
  });

  it('throws for Impersonate-Group without Impersonate-User', () => {
    expect(outcome(() => impersonatedUser(['Impersonate-Group', 'g'], alice, authorize))).toMatchObject({
      code: 400,
      message: 'requested [{Group  g    }] without impersonating a user',
    });
  });
});

describe('constrained impersonation', () => {
  const everything = new ConstrainedImpersonation(() => ({ allowed: true, reason: '' }));
  const request: Attributes = { user: user('r'), verb: 'get', path: '/' };

  it('adds the groups of a node to an impersonated node', () => {
    expect(everything.impersonatedUser(['Impersonate-User', 'system:node:n'], request)?.groups).toEqual([
      'system:nodes',
      'system:authenticated',
    ]);
  });

  it('demands the right associated-node for all nodes of a service account that impersonates the node it runs on', () => {
    const asked: Attributes[] = [];
    const account: User = {
      ...user('system:serviceaccount:ns:sa'),
      extra: new Map([['authentication.kubernetes.io/node-name', ['n']]]),
    };
    const impersonation = new ConstrainedImpersonation((each) => {
      asked.push(each);
      return { allowed: true, reason: '' };
    });
    impersonation.impersonatedUser(['Impersonate-User', 'system:node:n'], { ...request, user: account });
    expect(asked.map(({ verb }) => verb)).toEqual([
      'impersonate-on:associated-node:get',
      'impersonate:associated-node',
    ]);
    expect(asked[1]).toMatchObject({ resource: 'nodes', name: '*' });
  });

  it('refuses system:masters without the legacy right to impersonate', () => {
    const impersonation = new ConstrainedImpersonation(({ verb }) => ({ allowed: verb !== 'impersonate', reason: '' }));
    const headers = ['Impersonate-User', 'x', 'Impersonate-Group', 'system:masters'];
    expect(outcome(() => impersonation.impersonatedUser(headers, request))).toMatchObject({
      code: 403,
      message: expect.stringContaining('impersonating the system:masters group is not allowed') as string,
    });
  });

  it.each([
    ['scopes', 'a', 'must be a domain-prefixed path (such as \\"acme.io/foo\\")'],
    ['example.test%2Fa', '', 'the empty string value in extra'],
  ])('refuses Impersonate-Extra-%s with the value %j', (key, value, problem) => {
    const impersonation = new ConstrainedImpersonation(({ verb }) => ({ allowed: verb !== 'impersonate', reason: '' }));
    const headers = ['Impersonate-User', 'x', `Impersonate-Extra-${key}`, value];
    const refused = outcome(() => impersonation.impersonatedUser(headers, request));
    expect(JSON.stringify(refused)).toContain(problem);
  });
});

describe('readTokenFile', () => {
  it('parses quotes, groups, empty lines and CRLF', () => {
    const users = readTokenFile('\r\nt1,u1,id1,"g1,g2"\r\n\n"a ""b""",u2,\nt3,u3,id3,g3,more\n,nobody,x\nt1,again,y,');
    expect([...users].map(([token, { name, uid, groups }]) => [token, name, uid, groups])).toEqual([
      ['t1', 'again', 'y', ['']],
      ['a "b"', 'u2', '', []],
      ['t3', 'u3', 'id3', ['g3']],
    ]);
  });

  it.each(['t,u', 't,"u', 't,u"x,y', 't,"u"x,y'])('throws for the malformed line %j', (content) => {
    expect(() => readTokenFile(content)).toThrow(TokenFileError);
  });
});

describe('TokenAuthenticator', () => {
  const authenticator = new TokenAuthenticator({ apiAudiences: ['api'], staticTokens });

  it('adds the group system:authenticated to the user of a static token', () => {
    expect(authenticator.authenticate('alice-token')).toEqual({
      user: { name: 'alice', uid: 'alice-uid', groups: ['dev', 'team a', 'system:authenticated'], extra: new Map() },
      audiences: ['api'],
    });
  });

  it('refuses an unknown token', () => {
    expect(() => authenticator.authenticate('alice')).toThrow('invalid bearer token');
    expect(() => authenticator.authenticate('alice-token', ['other'])).toThrow('invalid bearer token');
  });
});
