import { createHash, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeCa, makeClient } from '../../../src/http/tls/pki.fixture.js';
import type { Ask } from '../https-client.js';
import { type Status, WHO_AM_I, type World } from './world.js';

interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: string[];
  readonly extra?: Record<string, string[]>;
}

export function identitySuite(world: World): void {
  const whoAmI = async (options: Ask): Promise<UserInfo> => {
    const answer = await world.ask(WHO_AM_I, { method: 'POST', body: {}, ...options });
    expect(answer.status, answer.text).toBe(201);
    return answer.json<{ status: { userInfo: UserInfo } }>().status.userInfo;
  };
  const SPOOFED = {
    'X-Remote-User': 'root',
    'X-Remote-Group': 'system:masters',
    'X-Remote-Uid': '0',
    'X-Remote-Extra-Scopes': 'all',
  };

  describe('identity of the caller', () => {
    it('is that of a certificate of the client CA', async () => {
      const { jane } = world;
      const fingerprint = createHash('sha256').update(new X509Certificate(jane.pem).raw).digest('hex');
      expect(await whoAmI({ as: jane })).toEqual({
        username: 'jane',
        groups: ['developers', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
      });
    });

    it('is anonymous without credentials, with access to public pages', async () => {
      expect((await world.ask('/version')).status).toBe(200);
      const refused = await world.ask('/api/v1/namespaces');
      expect(refused.status).toBe(403);
      expect(refused.json<Status>().message).toContain('User "system:anonymous" cannot list resource "namespaces"');
    });

    it('is refused with a certificate of an unknown CA', async () => {
      const stranger = makeClient(makeCa('elsewhere'), { cn: 'root', organizations: ['system:masters'] });
      const answer = await world.ask('/api/v1/namespaces', { as: stranger });
      expect([answer.status, answer.json<Status>().reason]).toEqual([401, 'Unauthorized']);
    });

    it('is not taken from headers of clients', async () => {
      expect(await whoAmI({ as: world.jane, headers: SPOOFED })).toMatchObject({
        username: 'jane',
        groups: ['developers', 'system:authenticated'],
      });
      expect((await world.ask('/api/v1/namespaces', { headers: SPOOFED })).json<Status>().message).toContain(
        'User "system:anonymous"',
      );
    });

    it('is taken from headers of a front proxy', async () => {
      const user = await whoAmI({ as: world.certificates.frontProxy, headers: SPOOFED });
      expect(user).toEqual({
        username: 'root',
        uid: '0',
        groups: ['system:masters', 'system:authenticated'],
        extra: { scopes: ['all'] },
      });
    });

    it('is not taken from headers if name or CA of the certificate is not that of a front proxy', async () => {
      const other = makeClient(world.certificates.frontProxyCa, { cn: 'someone' });
      const claimed = await world.ask(WHO_AM_I, { method: 'POST', body: {}, as: other, headers: SPOOFED });
      expect(claimed.status).toBe(401);
      const user = makeClient(world.certificates.ca, { cn: 'front-proxy-client' });
      expect(await whoAmI({ as: user, headers: SPOOFED })).toMatchObject({ username: 'front-proxy-client' });
    });

    it('is that of a service account token, and an invalid token is refused', async () => {
      const accounts = '/api/v1/namespaces/default/serviceaccounts';
      const { admin } = world;
      const made = await world.ask(accounts, { method: 'POST', as: admin, body: { metadata: { name: 'robot' } } });
      expect(made.status, made.text).toBe(201);
      const asked = await world.ask(`${accounts}/robot/token`, { method: 'POST', as: admin, body: { spec: {} } });
      expect(asked.status, asked.text).toBe(201);
      const { token } = asked.json<{ status: { token: string } }>().status;
      const user = await whoAmI({ headers: { Authorization: `Bearer ${token}`, ...SPOOFED } });
      expect(user).toMatchObject({ username: 'system:serviceaccount:default:robot' });
      expect(user.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']);
      const wrong = await world.ask('/version', { headers: { Authorization: `Bearer ${token.slice(0, -6)}AAAAAA` } });
      expect([wrong.status, wrong.json<Status>().reason]).toEqual([401, 'Unauthorized']);
    });

    it('may be another by impersonation with the right to impersonate', async () => {
      const headers = { 'Impersonate-User': 'bob', 'Impersonate-Group': 'builders' };
      expect(await whoAmI({ as: world.admin, headers })).toMatchObject({
        username: 'bob',
        groups: ['builders', 'system:authenticated'],
      });
      const refused = await world.ask(WHO_AM_I, { method: 'POST', body: {}, as: world.jane, headers });
      expect([refused.status, refused.json<Status>().reason]).toEqual([403, 'Forbidden']);
    });
  });

  describe('X-Kubernetes-Peer-Proxied', () => {
    const paths = ['/apis/nosuch.test/v1/things', '/apis/apps/v1/things', '/api/v1/namespaces/default/pods/x/nosuch'];
    const headers = { 'X-Kubernetes-Peer-Proxied': 'true' };

    it.each(paths)('is trusted from a front proxy: %s, which no server serves, is answered 503', async (path) => {
      const answer = await world.ask(path, {
        as: world.certificates.frontProxy,
        headers: { ...headers, ...SPOOFED },
      });
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
      expect(answer.json<Status>()).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable' });
    });

    it.each(paths)('is dropped from other clients: %s is answered 404', async (path) => {
      expect((await world.ask(path, { as: world.admin, headers })).status).toBe(404);
    });
  });
}
