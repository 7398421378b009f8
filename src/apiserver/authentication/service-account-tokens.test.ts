import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { JsonObject } from '../../kube/json.js';
import { StoredObjects } from '../authorization/stored-objects.fixture.js';
import { recorded } from '../reviews/recorded.fixture.js';
import { KeyError, parseToken, readSigningKey, readVerificationKeys, signToken } from './json-web-token.js';
import { OPENID_KEYS_MEDIA_TYPE, openIdConfiguration, openIdKeys } from './openid-documents.js';
import { type BoundObject, ServiceAccountTokens, type ServiceAccountTokensOptions } from './service-account-tokens.js';

const ISSUER = 'https://issuer.example.test';
const API = 'api.example.test';

function privatePem(kind: 'ec' | 'rsa' | 'ed25519' = 'ec', namedCurve = 'P-256', modulusLength = 2048): string {
  const { privateKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve })
      : kind === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength })
        : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

function object(kind: string, name: string, uid: string, more: JsonObject = {}): JsonObject {
  const namespace: JsonObject = kind === 'Node' ? {} : { namespace: 'ns' };
  const { metadata, ...rest } = more;
  return { apiVersion: 'v1', kind, metadata: { name, uid, ...namespace, ...(metadata as JsonObject) }, ...rest };
}

const signingKeyPem = privatePem();

function setUp(more: Partial<ServiceAccountTokensOptions> = {}) {
  const clock = new ManualClock();
  const objects = new StoredObjects([object('ServiceAccount', 'sa', 'sa-uid')]);
  const options = { objects, issuers: [ISSUER], apiAudiences: [API], signingKeyPem, clock, ...more };
  const tokens = new ServiceAccountTokens(options);
  const issue = (boundObject?: BoundObject, audiences = [API]) =>
    tokens.issue({
      namespace: 'ns',
      name: 'sa',
      uid: 'sa-uid',
      audiences,
      expirationSeconds: 600,
      ...(boundObject ? { boundObject } : {}),
    });
  return { clock, objects, tokens, issue };
}

describe('ServiceAccountTokens', () => {
  it('returns the user of a token, with its groups and credential ID', () => {
    const { tokens, issue } = setUp();
    const token = issue();
    const { user, audiences } = tokens.verify(token)!;
    expect(audiences).toEqual([API]);
    expect(user).toEqual({
      name: 'system:serviceaccount:ns:sa',
      uid: 'sa-uid',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      extra: new Map([['authentication.kubernetes.io/credential-id', [`JTI=${parseToken(token)!.claims.jti}`]]]),
    });
  });

  it.each([
    ['ES256', privatePem('ec', 'P-256')],
    ['ES384', privatePem('ec', 'P-384')],
    ['ES512', privatePem('ec', 'P-521')],
    ['RS256', privatePem('rsa')],
    // kube-apiserver 1.36 issues and accepts such tokens.
    ['RS256', privatePem('rsa', '', 1024)],
  ])('signs with algorithm %s', (algorithm, pem) => {
    const { tokens, issue } = setUp({ signingKeyPem: pem });
    const token = issue();
    expect(parseToken(token)!.algorithm).toBe(algorithm);
    expect(tokens.verify(token)).toBeDefined();
  });

  it('refuses keys that Kubernetes does not sign with', () => {
    expect(() => setUp({ signingKeyPem: privatePem('ed25519') })).toThrow(KeyError);
    expect(() => setUp({ signingKeyPem: privatePem('ec', 'secp256k1') })).toThrow(KeyError);
    expect(() => setUp({ signingKeyPem: 'nonsense' })).toThrow(KeyError);
    expect(() => setUp({ verificationKeysPem: ['nonsense'] })).toThrow(KeyError);
  });

  it('accepts all keys of a verification file, and only those', () => {
    const others = [privatePem(), privatePem('rsa')];
    const { tokens } = setUp({ verificationKeysPem: [others.join('')] });
    for (const pem of others) expect(tokens.verify(setUp({ signingKeyPem: pem }).issue())).toBeDefined();
    expect(() => tokens.verify(setUp().issue())).toThrow('invalid signature, no keys found');
  });

  it('accepts a token until a minute after its expiry', async () => {
    const { clock, tokens, issue } = setUp();
    const token = issue();
    await clock.advance(659_000);
    expect(tokens.verify(token)).toBeDefined();
    await clock.advance(2_000);
    expect(() => tokens.verify(token)).toThrow('service account token has expired');
  });

  it('refuses a token before its nbf', () => {
    const { tokens } = setUp({ clock: new ManualClock(Date.UTC(2029, 0, 1)) });
    const { issue } = setUp();
    expect(() => tokens.verify(issue())).toThrow('service account token is not valid yet');
  });

  it('accepts a token for its audiences only', () => {
    const { tokens, issue } = setUp();
    const token = issue(undefined, ['a', 'b', 'c']);
    expect(tokens.verify(token, ['c', 'a', 'z'])!.audiences).toEqual(['a', 'c']);
    expect(() => tokens.verify(token)).toThrow(
      `token audiences ["a" "b" "c"] is invalid for the target audiences ["${API}"]`,
    );
  });

  it('refuses a token after its account was deleted, cached or not', () => {
    const { objects, tokens, issue } = setUp();
    const token = issue();
    expect(tokens.verify(token)).toBeDefined();
    objects.remove(object('ServiceAccount', 'sa', 'sa-uid'));
    expect(() => tokens.verify(token)).toThrow('serviceaccounts "sa" not found');
    objects.put(object('ServiceAccount', 'sa', 'new-uid'));
    expect(() => tokens.verify(token)).toThrow('service account UID (new-uid) does not match claim (sa-uid)');
    const longAgo = { metadata: { deletionTimestamp: '2029-12-31T23:58:00Z' } };
    objects.put(object('ServiceAccount', 'sa', 'sa-uid', longAgo));
    expect(() => tokens.verify(token)).toThrow('service account ns/sa has been deleted');
  });

  it.each(['Pod', 'Secret', 'Node'] as const)(
    'refuses a token after the %s that it is bound to was deleted',
    (kind) => {
      const { objects, tokens, issue } = setUp();
      const bound = object(kind, 'b', 'b-uid');
      objects.put(bound);
      const token = issue({ kind, name: 'b', uid: 'b-uid' });
      const { extra } = tokens.verify(token)!.user;
      const what = kind.toLowerCase();
      expect(extra.get(`authentication.kubernetes.io/${what}-name`)).toEqual(kind === 'Secret' ? undefined : ['b']);
      objects.put(object(kind, 'b', 'other'));
      expect(() => tokens.verify(token)).toThrow(
        `${what} UID (other) does not match service account ${what} ref claim (b-uid)`,
      );
      objects.put(object(kind, 'b', 'b-uid', { metadata: { deletionTimestamp: '2029-12-31T23:58:59Z' } }));
      expect(() => tokens.verify(token)).toThrow('service account token has been invalidated');
      objects.put(object(kind, 'b', 'b-uid', { metadata: { deletionTimestamp: '2029-12-31T23:59:30Z' } }));
      expect(tokens.verify(token)).toBeDefined();
      objects.remove(bound);
      expect(() => tokens.verify(token)).toThrow('service account token has been invalidated');
    },
  );

  it('returns the node of a bound pod without reading it', () => {
    const { objects, tokens, issue } = setUp();
    objects.put(object('Pod', 'b', 'b-uid'));
    const node = { name: 'n', uid: 'n-uid' };
    const { extra } = tokens.verify(issue({ kind: 'Pod', name: 'b', uid: 'b-uid', node }))!.user;
    expect(extra.get('authentication.kubernetes.io/node-name')).toEqual(['n']);
    expect(extra.get('authentication.kubernetes.io/node-uid')).toEqual(['n-uid']);
    expect(extra.get('authentication.kubernetes.io/pod-uid')).toEqual(['b-uid']);
  });

  it('returns undefined for tokens of other issuers and for text that is no token', () => {
    const { tokens } = setUp();
    const { issue } = setUp({ issuers: ['https://another.example.test'] });
    const huge = `${'a'.repeat(40_000)}.${'b'.repeat(40_000)}.c`;
    for (const token of ['', 'x', 'a.b.c', '{"payload":1}', `${issue()}.more`, issue(), huge]) {
      expect(tokens.verify(token)).toBeUndefined();
    }
  });

  it('verifies tokens again after their eviction from the cache', () => {
    const { tokens, issue } = setUp({ verifiedTokensMax: 2 });
    const issued = Array.from({ length: 5 }, () => issue());
    for (const token of [...issued, ...issued]) expect(tokens.verify(token)).toBeDefined();
  });
});

describe('forged service account tokens', () => {
  const { tokens, issue } = setUp();
  const good = issue();
  const [head, claims, signature] = good.split('.') as [string, string, string];
  const encode = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const kid = readSigningKey(signingKeyPem).id;
  const publicPem = readSigningKey(signingKeyPem).key.export({ type: 'spki', format: 'pem' }) as string;
  const hmac = (signed: string) => createHmac('sha256', publicPem).update(signed).digest('base64url');
  const masters = encode({ ...parseToken(good)!.claims, sub: 'system:admin' });
  const confused = `${encode({ alg: 'HS256', kid })}.${claims}`;
  const rsa = readSigningKey(privatePem('rsa'));

  it.each([
    ['other claims', `${head}.${masters}.${signature}`],
    ['no signature', `${head}.${claims}.`],
    ['no algorithm', `${encode({ alg: 'none', kid })}.${claims}.`],
    ['the public key as a secret', `${confused}.${hmac(confused)}`],
    ['another key under the same name', signToken({ ...rsa, id: kid }, parseToken(good)!.claims)],
    ['a cut signature', good.slice(0, -8)],
  ])('are refused with %s', (_, token) => {
    expect(() => tokens.verify(token)).toThrow('go-jose/go-jose: error in cryptographic primitive');
  });

  it('are refused with claims of the wrong type', () => {
    const key = readSigningKey(signingKeyPem);
    const token = signToken(key, { ...parseToken(good)!.claims, exp: 'never' });
    expect(() => tokens.verify(token)).toThrow('claims could not be validated');
    const noAccount = signToken(key, { iss: ISSUER, aud: API, 'kubernetes.io': ['x'] });
    expect(() => tokens.verify(noAccount)).toThrow('not found');
  });
});

describe('legacy service account tokens from secrets', () => {
  const key = readSigningKey(signingKeyPem);
  const prefix = 'kubernetes.io/serviceaccount/';
  const claims = {
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:ns:sa',
    [`${prefix}namespace`]: 'ns',
    [`${prefix}secret.name`]: 's',
    [`${prefix}service-account.name`]: 'sa',
    [`${prefix}service-account.uid`]: 'sa-uid',
  };
  const token = signToken(key, claims);
  const secret = (data: string, more: JsonObject = {}) =>
    object('Secret', 's', 's-uid', {
      type: 'kubernetes.io/service-account-token',
      data: { token: Buffer.from(data).toString('base64') },
      ...more,
    });

  it('are valid for the API server while the secret contains them', () => {
    const { objects, tokens } = setUp();
    expect(() => tokens.verify(token)).toThrow('Token has been invalidated');
    objects.put(secret(token));
    expect(tokens.verify(token)).toEqual({
      audiences: [API],
      user: {
        name: 'system:serviceaccount:ns:sa',
        uid: 'sa-uid',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
        extra: new Map(),
      },
    });
    expect(() => tokens.verify(token, ['elsewhere'])).toThrow('is invalid for the target audiences');
    objects.put(secret('another'));
    expect(() => tokens.verify(token)).toThrow("Token does not match server's copy");
    objects.put(secret(token, { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } } }));
    expect(() => tokens.verify(token)).toThrow('has been marked invalid');
  });

  it.each(Object.keys(claims).slice(1))('are refused without claim %s', (claim) => {
    const { tokens } = setUp();
    expect(() => tokens.verify(signToken(key, { ...claims, [claim]: '' }))).toThrow('claim is missing');
  });

  it('are refused if sub is another service account', () => {
    const { tokens } = setUp();
    const mixed = signToken(key, { ...claims, sub: 'system:serviceaccount:kube-system:admin' });
    expect(() => tokens.verify(mixed)).toThrow('sub claim is invalid');
  });
});

describe('OpenID documents', () => {
  const [configuration, keySet, { key }] = recorded.openId as unknown as [JsonObject, JsonObject, { key: string }];
  const keys = readVerificationKeys(key);

  it('are equal to those of kube-apiserver', () => {
    const { issuer, jwks_uri } = JSON.parse(configuration.text as string) as Record<string, string>;
    expect(JSON.stringify(openIdConfiguration(issuer!, jwks_uri!, keys))).toBe(configuration.text);
    expect(JSON.stringify(openIdKeys(keys))).toBe(keySet.text);
    expect(keySet.type).toBe(OPENID_KEYS_MEDIA_TYPE);
  });

  it('contain RSA keys too', () => {
    const rsa = readVerificationKeys(privatePem('rsa'));
    const { keys: shown } = openIdKeys(rsa) as { keys: JsonObject[] };
    expect(shown[0]).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig', e: 'AQAB', kid: rsa[0]!.id });
    expect(Object.keys(shown[0]!)).not.toContain('d');
  });
});
