import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalDoor } from './local-door.js';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

const HAS_IPV6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));

let straddle: Server;
let seen: { method: string; url: string; headers: IncomingMessage['headers'] }[];
let door: LocalDoor;
let address: URL;
let secondOpenings: number;

/** A request as a browser would send it, which knows itself where names under localhost are; Host is given like any other field. */
function ask(path: string, more: Record<string, string> = {}, method = 'GET', host = '127.0.0.1'): Promise<Answer> {
  const headers = { host: address.host, ...more };
  return new Promise((resolve, reject) => {
    const sent = request({ host, port: address.port, path, method, headers, agent: false }, (reply) => {
      let text = '';
      reply.on('data', (chunk) => {
        text += chunk;
      });
      reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function opened(): Promise<{ cookie: string }> {
  const { headers } = await ask(address.pathname);
  return { cookie: headers['set-cookie']![0]!.split(';')[0]! };
}

beforeEach(async () => {
  seen = [];
  secondOpenings = 0;
  straddle = createServer(({ method = '', url = '', headers }, response) => {
    seen.push({ method, url, headers });
    const fields = { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'" };
    response.writeHead(200, { ...fields, 'set-cookie': 'of=straddle', 'x-other': 'field' });
    response.end('the page');
  });
  await new Promise<void>((resolve) => straddle.listen(0, '127.0.0.1', resolve));
  const { port } = straddle.address() as AddressInfo;
  door = new LocalDoor({
    connection: {
      open: ({ method, target, headers }, signal) =>
        new Promise((resolve, reject) => {
          const sent = request(
            { host: '127.0.0.1', port, path: target, method, headers, signal, agent: false },
            resolve,
          );
          sent.on('error', reject);
          sent.end();
        }),
    },
    credentials: () => ({ authorization: 'Bearer of-the-kubeconfig' }),
    port: 0,
    onSecondOpening: () => {
      secondOpenings += 1;
    },
  });
  address = new URL(await door.listen());
});
afterEach(async () => {
  await door.close();
  await new Promise<void>((resolve) => {
    straddle.close(() => resolve());
    straddle.closeAllConnections();
  });
});

describe('local door of the dashboard', () => {
  it('has a name of its own under localhost, because cookies go to all ports of a host, and a token', () => {
    expect(address.hostname).toMatch(/^[0-9a-f]{32}\.localhost$/);
    expect(address.pathname).toMatch(/^\/open\/[\w-]{43}$/);
  });

  it.runIf(HAS_IPV6)(
    'listens on both loopback addresses, so that nobody else has the port of one of them',
    async () => {
      expect((await ask('/', {}, 'GET', '::1')).status).toBe(403);
      const other = createServer();
      const code = await new Promise((resolve) => {
        other.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
        other.listen(Number(address.port), '::1', () => other.close(() => resolve('listens')));
      });
      expect(code).toBe('EADDRINUSE');
    },
  );

  it('makes a cookie of the token, which only this browser has and only pages of this port send', async () => {
    const { status, headers, text } = await ask(address.pathname);
    expect(status).toBe(200);
    expect(headers['set-cookie']![0]).toMatch(
      new RegExp(`^straddle-dashboard-${address.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`),
    );
    expect(text).toContain('0;url=/straddle/');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('takes the token once, but lets the browser that has the cookie come again', async () => {
    const { cookie } = await opened();
    expect((await ask(address.pathname, { cookie })).status).toBe(200);
    expect((await ask('/open/made-up')).status).toBe(403);
    expect((await ask('/straddle/', { cookie })).status).toBe(200);
    expect(secondOpenings).toBe(0);
  });

  it('is shut for everybody when the token comes again without the cookie', async () => {
    const { cookie } = await opened();
    const again = await ask(address.pathname);
    expect([again.status, again.headers['set-cookie']]).toEqual([403, undefined]);
    expect((await ask('/straddle/', { cookie })).status).toBe(403);
    expect(secondOpenings).toBe(1);
    expect(seen).toEqual([]);
  });

  it('does not tell its name to whoever asks by another one', async () => {
    for (const host of [`127.0.0.1:${address.port}`, `localhost:${address.port}`]) {
      const { status, text, headers } = await ask('/', { host });
      expect(status).toBe(421);
      expect(text + JSON.stringify(headers)).not.toContain(address.hostname.split('.')[0]);
    }
  });

  it('refuses pages of other sites, but not a person who comes from one', async () => {
    const { cookie } = await opened();
    const from = async (site: string, mode: string, path: string) =>
      (await ask(path, { cookie, 'sec-fetch-site': site, 'sec-fetch-mode': mode })).status;
    expect(await from('same-site', 'cors', '/straddle/')).toBe(403);
    expect(await from('cross-site', 'no-cors', '/straddle/api/v1/state')).toBe(403);
    expect(await from('same-site', 'navigate', '/straddle/api/v1/state')).toBe(403);
    expect(seen).toEqual([]);
    expect(await from('cross-site', 'navigate', '/straddle/')).toBe(200);
    expect(await from('cross-site', 'navigate', address.pathname)).toBe(200);
    expect(await from('same-origin', 'cors', '/straddle/api/v1/state')).toBe(200);
  });

  it('does not take a look at the head of the address for its opening', async () => {
    const head = await ask(address.pathname, {}, 'HEAD');
    expect([head.status, head.headers['set-cookie']]).toEqual([200, undefined]);
    expect((await ask(address.pathname)).headers['set-cookie']).toHaveLength(1);
  });

  it('passes the page on with the credentials of the kubeconfig, and nothing of the browser but two fields', async () => {
    const { cookie } = await opened();
    const page = await ask('/straddle/?x=1', {
      cookie,
      accept: 'text/html',
      authorization: 'Basic b3RoZXI=',
      'x-remote-user': 'root',
    });
    expect([page.status, page.text]).toEqual([200, 'the page']);
    expect(page.headers['content-security-policy']).toBe("default-src 'none'");
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(page.headers['x-other']).toBeUndefined();
    expect(seen).toHaveLength(1);
    const [{ method, url, headers }] = seen as [(typeof seen)[number]];
    expect([method, url, headers.accept, headers.authorization]).toEqual([
      'GET',
      '/straddle/',
      'text/html',
      'Bearer of-the-kubeconfig',
    ]);
    expect(headers.cookie).toBeUndefined();
    expect(headers['x-remote-user']).toBeUndefined();
  });

  it.each([
    ['without a cookie', '/straddle/', {}, 'GET', 403],
    ['with a made-up cookie', '/straddle/', { cookie: 'straddle-dashboard=x' }, 'GET', 403],
    ['for a name that a DNS server points here', '/straddle/', { host: 'evil.example' }, 'GET', 421],
    ['for the address instead of the name', '/straddle/', { host: '127.0.0.1' }, 'GET', 421],
    ['for another port', '/straddle/', { host: '127.0.0.1:1' }, 'GET', 421],
    ['that would change something', '/straddle/', {}, 'POST', 405],
  ])('refuses a request %s', async (_, path, headers, method, status) => {
    expect((await ask(path, headers, method)).status).toBe(status);
    expect(seen).toEqual([]);
  });

  it.each([
    '/api/v1/secrets',
    '/straddle/passthrough',
    '/straddle/../api/v1/secrets',
    '/straddle/assets/../../api',
    '/straddle/assets/%2e%2e/x',
    '//straddle/',
    '/straddle/api/v1/reach',
  ])('does not pass %s on', async (path) => {
    const { cookie } = await opened();
    expect((await ask(path, { cookie })).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it('says so if the Straddle does not answer', async () => {
    const { cookie } = await opened();
    await new Promise<void>((resolve) => {
      straddle.close(() => resolve());
      straddle.closeAllConnections();
    });
    const refused = await ask('/straddle/', { cookie });
    expect([refused.status, refused.text]).toEqual([502, expect.stringContaining('does not answer')]);
  });
});
