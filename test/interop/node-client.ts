import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientSessionOptions, connect, constants } from 'node:http2';
import { ask2, serverCa } from '../../src/http/server/listener.fixture.js';
import { eventually } from '../real/rig/eventually.js';
import { type InteropCase, same } from './interop-case.js';
import { digestOf, type InteropServer, largeFields, pattern } from './server.js';

const MEGABYTE = 1024 * 1024;
/** In megabytes. By default the client resets streams when it holds more than ten that it has yet to send. */
const CLIENT_MEMORY_MAX = 200;

/** A case on one session, which must be usable to the end. */
function onSession(
  name: string,
  run: (session: ClientHttp2Session, server: InteropServer) => Promise<void>,
  options: ClientSessionOptions = {},
): InteropCase {
  return {
    name: `node: ${name}`,
    async run(server) {
      const session = await openSession(server, options);
      try {
        await run(session, server);
        const { status, body } = await ask2(session, { path: '/' });
        same('the next request on the connection', `${status} ${body}`, '200 ok');
      } finally {
        session.destroy();
      }
      return undefined;
    },
  };
}

async function openSession(server: InteropServer, options: ClientSessionOptions = {}): Promise<ClientHttp2Session> {
  const session = connect(server.url, { ca: serverCa.pem, maxSessionMemory: CLIENT_MEMORY_MAX, ...options });
  session.on('error', () => {});
  await once(session, 'connect');
  return session;
}

async function expectDigest(session: ClientHttp2Session, path: string, bytes: number): Promise<void> {
  const { status, headers, body } = await ask2(session, { path });
  same(`status of ${path}`, status, 200);
  same(`body of ${path}`, digestOf(body), headers['x-digest']);
  same(`length of ${path}`, body.byteLength, bytes);
}

async function expectEcho(session: ClientHttp2Session, body: Buffer): Promise<void> {
  const answer = await ask2(session, { method: 'POST', path: '/echo', body });
  same('the body that came back', digestOf(answer.body), digestOf(body));
}

/** Gives a request up in the middle of its answer. */
async function resetInTheMiddle(session: ClientHttp2Session): Promise<void> {
  const stream = session.request({ ':path': '/endless' });
  stream.on('error', () => {});
  await once(stream, 'data');
  stream.close(constants.NGHTTP2_CANCEL);
  await once(stream, 'close');
}

async function expectBrokenOff(session: ClientHttp2Session, path: string): Promise<void> {
  const outcome = await ask2(session, { path }).then(
    ({ status }) => `answered with ${status}`,
    (error: NodeJS.ErrnoException) => error.code,
  );
  same(path, outcome, 'ERR_HTTP2_STREAM_ERROR');
}

export const nodeCases: readonly InteropCase[] = [
  onSession('1,000 requests at once on one connection of 100 streams', async (session, server) => {
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => ask2(session, { path: '/size/1000' })));
    const digest = digestOf(pattern(1_000));
    for (const { body } of answers) same('an answer', digestOf(body), digest);
    same('connections', server.connectionCount, 1);
  }),

  onSession('32 MiB in each direction, in one piece, streamed and echoed while they come', async (session) => {
    await expectDigest(session, `/size/${32 * MEGABYTE}`, 32 * MEGABYTE);
    await expectDigest(session, `/stream/${32 * MEGABYTE}`, 32 * MEGABYTE);
    const body = randomBytes(32 * MEGABYTE);
    await expectEcho(session, body);
    const { body: digest } = await ask2(session, { method: 'PUT', path: '/digest', body });
    same('the digest of the body', digest.toString(), digestOf(body));
  }),

  onSession('many large bodies at once, both ways', async (session) => {
    await Promise.all(Array.from({ length: 20 }, () => expectEcho(session, randomBytes(MEGABYTE))));
  }),

  onSession(
    'windows of 1,000 bytes',
    async (session) => {
      await Promise.all(Array.from({ length: 5 }, () => expectDigest(session, '/stream/300000', 300_000)));
      await expectDigest(session, '/size/300000', 300_000);
    },
    { settings: { initialWindowSize: 1_000 } },
  ),

  onSession('windows that shrink to nothing and grow while an answer is under way', async (session) => {
    const stream = session.request({ ':path': `/stream/${4 * MEGABYTE}` });
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(stream, 'response');
    for (const initialWindowSize of [0, 100_000, 1, 65_535]) {
      await new Promise<void>((resolve) => session.settings({ initialWindowSize }, () => resolve()));
    }
    await once(stream, 'end');
    same('the body', digestOf(Buffer.concat(chunks)), digestOf(pattern(4 * MEGABYTE)));
  }),

  onSession('trailers of the answer, and of a request', async (session) => {
    const stream = session.request({ ':method': 'POST', ':path': '/trailers' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-request-checksum': '41' }));
    stream.end('body');
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [[trailers]] = await Promise.all([once(stream, 'trailers'), once(stream, 'end')]);
    same('the body', Buffer.concat(chunks).toString(), 'body');
    same('the trailers', `${trailers['x-checksum']} ${trailers['x-last']}`, '42 yes');
  }),

  onSession('100 requests that are reset in the middle of their answers', async (session, server) => {
    for (let i = 0; i < 100; i++) await resetInTheMiddle(session);
    await eventually('all of them are given up by the server', () => server.cancelledAnswers === 100);
    await expectDigest(session, `/stream/${MEGABYTE}`, MEGABYTE);
  }),

  onSession('a request that is reset in the middle of its body', async (session) => {
    const stream = session.request({ ':method': 'POST', ':path': '/digest' });
    stream.on('error', () => {});
    stream.write(Buffer.alloc(100_000));
    // Sent after it and answered: the server has the beginning of the body.
    await new Promise<void>((resolve) => session.ping(() => resolve()));
    stream.close(constants.NGHTTP2_CANCEL);
    await once(stream, 'close');
  }),

  {
    name: 'node: GOAWAY on drain with 20 requests under way, all of which are answered',
    async run(server) {
      const session = await openSession(server);
      const names = Array.from({ length: 20 }, (_, i) => String(i));
      const answers = names.map((name) => ask2(session, { path: `/hold/${name}` }));
      await Promise.all(names.map((name) => server.arrived(name)));
      const goaway = once(session, 'goaway');
      const drained = server.drain(30_000);
      const [code] = await goaway;
      same('the code of GOAWAY', code, constants.NGHTTP2_NO_ERROR);
      for (const name of names) server.release(name);
      for (const [i, { status, body }] of (await Promise.all(answers)).entries()) {
        same(`answer ${i}`, `${status} ${body}`, `200 held ${i}`);
      }
      await drained;
      if (!session.closed) await once(session, 'close');
      return undefined;
    },
  },

  {
    name: 'node: GOAWAY of the client with a request under way, which is answered',
    async run(server) {
      const session = await openSession(server);
      const answer = ask2(session, { path: '/hold/x' });
      await server.arrived('x');
      session.goaway(constants.NGHTTP2_NO_ERROR);
      server.release('x');
      same('the answer', (await answer).body.toString(), 'held x');
      session.close();
      await eventually('the connection is closed', () => server.connectionCount === 0);
      return undefined;
    },
  },

  onSession('40 kB of headers in each direction (CONTINUATION)', async (session) => {
    const fields = largeFields(40_000);
    const headers: Record<string, string> = {};
    for (let i = 0; i < fields.length; i += 2) headers[fields[i]!] = fields[i + 1]!;
    const sent = await ask2(session, { path: '/header-digest', headers });
    const values = fields.filter((_, i) => i % 2 === 1).join('');
    same('the headers that the server saw', sent.body.toString(), digestOf(Buffer.from(values)));
    const { headers: received } = await ask2(session, { path: '/headers/40000' });
    for (const [name, value] of Object.entries(headers)) same(name, received[name], value);
  }),

  onSession('PING, also while answers are under way', async (session) => {
    const download = expectDigest(session, `/stream/${8 * MEGABYTE}`, 8 * MEGABYTE);
    for (let i = 0; i < 10; i++) {
      const payload = randomBytes(8);
      const answered = await new Promise<Buffer>((resolve, reject) => {
        session.ping(payload, (error, _durationMs, echoed) => (error ? reject(error) : resolve(echoed)));
      });
      same('the payload of PING', answered.toString('hex'), payload.toString('hex'));
    }
    await download;
  }),

  onSession('100 Continue before a body that is held back', async (session) => {
    const stream = session.request({ ':method': 'POST', ':path': '/digest', expect: '100-continue' });
    await once(stream, 'continue');
    stream.end('held back');
    const [[headers], [body]] = await Promise.all([once(stream, 'response'), once(stream, 'data')]);
    same('the answer', `${headers[':status']} ${body}`, `200 ${digestOf(Buffer.from('held back'))}`);
  }),

  onSession('HEAD, 204 and 304 have no body', async (session) => {
    const head = await ask2(session, { method: 'HEAD', path: '/size/1000' });
    same('HEAD', `${head.status} ${head.headers['content-length']} ${head.body.byteLength}`, '200 1000 0');
    const streamed = await ask2(session, { method: 'HEAD', path: '/stream/1000' });
    same('HEAD of what is streamed', `${streamed.status} ${streamed.body.byteLength}`, '200 0');
    for (const status of [204, 304]) {
      const answer = await ask2(session, { path: `/status/${status}` });
      same(`${status}`, `${answer.status} ${answer.body.byteLength}`, `${status} 0`);
    }
  }),

  onSession('errors and answers that break off leave the connection usable', async (session, server) => {
    await expectBrokenOff(session, '/broken');
    await expectBrokenOff(session, '/throws');
    for (const status of [400, 404, 500, 503]) {
      same('status', (await ask2(session, { path: `/status/${status}` })).status, status);
    }
    same('an answer before the body was read', (await postUnread(session)).status, 404);
    same('connections', server.connectionCount, 1);
  }),
];

/** A body of which the server reads nothing. */
function postUnread(session: ClientHttp2Session): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': '/nothing' });
    stream.once('response', (headers) => resolve({ status: headers[':status']! }));
    stream.once('error', reject);
    stream.resume();
    stream.write(Buffer.alloc(100_000));
  });
}
