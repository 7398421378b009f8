import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCa, makeServer } from '../http/tls/pki.fixture.js';
import { runStraddle } from './program.js';
import type { Surroundings } from './surroundings.js';

const ca = makeCa('kubernetes');
const serving = makeServer(ca);
const otherCa = makeCa('another');
let server: Server;
let origin: string;
const asked: { url: string; authorization: string | undefined }[] = [];

beforeAll(async () => {
  server = createServer({ key: serving.keyPem, cert: serving.pem }, (request, response) => {
    asked.push({ url: request.url ?? '', authorization: request.headers.authorization });
    if (request.url === '/silent') return;
    if (request.url === '/terminal') return void response.end('ok\x1b]0;title\x07\x1b[2J\x08');
    response
      .writeHead(request.url === '/livez' ? 200 : 503)
      .end(request.url === '/livez' ? 'ok' : '[-]upstream failed\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function probe(argv: readonly string[], environment: Record<string, string> = {}) {
  const result = { out: '', err: '', code: -1 };
  const never = () => Promise.reject(new Error('not expected'));
  const files: Record<string, string> = { 'ca.crt': ca.pem, 'other.crt': otherCa.pem };
  const surroundings = {
    stdout: (text: string) => (result.out += text),
    stderr: (text: string) => (result.err += text),
    stderrIsTerminal: false,
    environment,
    readFile: (path: string) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      return text;
    },
    nowMs: Date.now,
  } as unknown as Surroundings;
  result.code = await runStraddle(['probe', ...argv], surroundings, {
    proxy: never,
    apiServer: never,
    controlPlane: never,
    rehearse: never,
    testControlPlane: never,
  });
  return result;
}

describe('straddle probe', () => {
  it('prints the reply and succeeds for a good status, without credentials', async () => {
    expect(await probe([`${origin}/livez`])).toEqual({ out: 'ok\n', err: '', code: 0 });
    expect(asked.at(-1)).toEqual({ url: '/livez', authorization: undefined });
  });

  it('takes the page from the environment where no argument is given', async () => {
    expect(await probe([], { STRADDLE_PROBE_URL: `${origin}/livez` })).toMatchObject({ code: 0 });
  });

  it('fails with the reply for another status', async () => {
    expect(await probe([`${origin}/readyz?verbose`])).toEqual({
      out: '',
      err: `straddle: ${origin}/readyz?verbose replied 503: [-]upstream failed\n`,
      code: 1,
    });
  });

  it('prints no terminal sequences of a server, which it does not verify', async () => {
    expect(await probe([`${origin}/terminal`])).toMatchObject({ out: 'ok\ufffd\n', code: 0 });
  });

  it('verifies the certificate where an authority is named', async () => {
    expect(await probe([`${origin}/livez`, '--ca-file=ca.crt'])).toMatchObject({ code: 0 });
    const refused = await probe([`${origin}/livez`, '--ca-file=other.crt']);
    expect(refused).toMatchObject({ out: '', code: 1 });
    expect(refused.err).toMatch(/did not reply: .*certificate signed by unknown authority/);
  });

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['a page without TLS', ['http://127.0.0.1:1/livez'], {}, /Use https:/],
    ['a page with a password', ['https://u:p@127.0.0.1:1/livez'], {}, /Use https:/],
    [
      'nonsense in the environment',
      [],
      { STRADDLE_PROBE_URL: 'x' },
      /^straddle: STRADDLE_PROBE_URL: "x" is not a page/,
    ],
    ['a timeout out of bounds', ['--timeout=1h'], {}, /from 1s to 1m/],
    ['an authority that is not there', ['--ca-file=none'], {}, /none cannot be read \(ENOENT\)/],
    ['a port where nobody listens', ['https://127.0.0.1:1/livez'], {}, /did not reply: connection refused/],
  ])('refuses %s in a sentence', async (_, argv, environment, sentence) => {
    const { code, err } = await probe(argv, environment);
    expect(code).toBe(1);
    expect(err).toMatch(sentence);
  });

  it('ends after the timeout', async () => {
    const { code, err } = await probe([`${origin}/silent`, '--timeout=1s']);
    expect(code).toBe(1);
    expect(err).toMatch(/did not reply: timeout: no reply within 1 s/);
  });
});
