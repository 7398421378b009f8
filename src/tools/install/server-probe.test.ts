import { afterAll, describe, expect, it } from 'vitest';
import { parseHostPort } from '../../base/address.js';
import { otherCa, serveTls, tls } from '../../http/tls/tls-server.fixture.js';
import { answerText, askAsStraddle, type ProbeCredentials } from './server-probe.js';

const credentials: ProbeCredentials = { ca: tls.ca!, cert: tls.cert!, key: tls.key!, userHeader: 'X-Remote-User' };
const server = await serveTls((req, res) => {
  if (req.url === '/straddle') res.setHeader('X-Straddle-Server', 'true');
  res.statusCode = req.url === '/unready' || req.url === '/failing' ? 500 : 200;
  res.end(req.url === '/failing' ? `[+]ping ok\n[-]etcd \u001b[31mfailed${'!'.repeat(1_000)}\n[-]other\n` : 'ok');
});
afterAll(() => server.close());
const ask = (target: string, given = credentials) => askAsStraddle(parseHostPort(server.address), target, given);

describe('askAsStraddle', () => {
  it('sends the user of Straddle and distinguishes a Straddle from a kube-apiserver', async () => {
    expect(await ask('/readyz')).toEqual({ kind: 'answer', status: 200, isStraddle: false });
    expect(server.requests.at(-1)?.headers['x-remote-user']).toBe('system:straddle');
    expect(await ask('/straddle')).toEqual({ kind: 'answer', status: 200, isStraddle: true });
    expect(answerText(await ask('/unready'))).toBe('kube-apiserver answers 500');
  });

  it('asks about the server alone, and names the first failed check in bounded printable text', async () => {
    const text = answerText(await ask('/failing'));
    expect(text).toMatch(/^kube-apiserver answers 500 \(\[-\]etcd failed!+\)$/);
    expect(text.length).toBeLessThan(250);
    expect(server.requests.at(-1)?.headers['x-kubernetes-peer-proxied']).toBe('true');
  });

  it('shows its certificate only to a server that the authority vouches for', async () => {
    const count = server.requests.length;
    const answer = await ask('/readyz', { ...credentials, ca: otherCa.pem });
    expect(answer).toMatchObject({ kind: 'failure', why: expect.stringMatching(/unknown authority|self.signed/i) });
    expect(server.requests).toHaveLength(count);
  });

  it('recognizes an address where nobody listens', async () => {
    const closed = await serveTls(() => {});
    await closed.close();
    expect(await askAsStraddle(parseHostPort(closed.address), '/readyz', credentials)).toEqual({ kind: 'refused' });
  });
});
