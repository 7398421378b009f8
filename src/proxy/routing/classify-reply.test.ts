import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { AttemptError } from '../../http/attempt-error.js';
import { BodyStream } from '../../http/body-stream.js';
import type { Exchange, Reply } from '../../http/exchange.js';
import { type Status, status } from '../../kube/status.js';
import { encodeStatus } from '../../kube/status-encoding.js';
import {
  classifyReply,
  REFUSAL_READ_MS_MAX,
  type ReplyKind,
  throwIfNotTaken,
  withRefusalRead,
} from './classify-reply.js';
import { ask } from './routing.fixture.js';
import { cbor } from './watch-events.fixture.js';

const RESIZE = ask('PUT', '/api/v1/namespaces/x/pods/p/resize');
const PROXY = ask('GET', '/api/v1/namespaces/x/pods/p/proxy/');
const UNKNOWN = 'the server could not find the requested resource';
const DRAINING_HEADERS = ['Retry-After', '1'];
const DRAINING = JSON.stringify(status('ServiceUnavailable', 'apiserver is shutting down'));

/** Encodings of a Status, made by hand: as the serializers of kube-apiserver write them. */
const ENCODINGS: readonly (readonly [string, (found: Status) => Buffer])[] = [
  ['application/json', (found) => Buffer.from(`${JSON.stringify(found)}\n`)],
  ['application/yaml', (found) => Buffer.from(yaml(found))],
  [
    'application/vnd.kubernetes.protobuf',
    (found) => Buffer.from(encodeStatus(found, 'application/vnd.kubernetes.protobuf').bytes),
  ],
  ['application/cbor', (found) => Buffer.concat([Buffer.from('d9d9f7', 'hex'), cbor(found)])],
];

function yaml({ apiVersion, code, details, kind, message, reason, status: outcome }: Status): string {
  const nested = details ? `details:\n  kind: ${details.kind}\n  name: ${details.name}\n` : '';
  return `apiVersion: ${apiVersion}\ncode: ${code}\n${nested}kind: ${kind}\nmessage: ${message}\nmetadata: {}\nreason: ${reason}\nstatus: ${outcome}\n`;
}

/** A reply as it comes over a connection, and the stream that ends it. */
function streamed(code: number, text: string, more: { headers?: string[]; length?: number | undefined } = {}) {
  const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
  body.push(Buffer.from(text));
  const length = 'length' in more ? more.length : text.length;
  const lengthField = length === undefined ? [] : ['Content-Length', String(length)];
  const headers = ['Content-Type', 'application/json', ...lengthField, ...(more.headers ?? [])];
  return { body, reply: { status: code, headers, body } satisfies Reply };
}

async function kindOf(
  exchange: Exchange,
  { body, reply }: ReturnType<typeof streamed>,
  from: 'kube-apiserver' | 'straddle' = 'kube-apiserver',
): Promise<ReplyKind> {
  body.end();
  return classifyReply(exchange, await withRefusalRead(exchange, reply, new ManualClock()), from);
}

describe('classifyReply', () => {
  it('distinguishes an unknown resource from a missing object by the message of a Status', async () => {
    const notFound = (message: string) => streamed(404, JSON.stringify(status('NotFound', message)));
    expect(await kindOf(RESIZE, notFound(UNKNOWN))).toBe('unknown-resource');
    expect(await kindOf(RESIZE, notFound('pods "p" not found'))).toBe('answer');
  });

  it('reads a plain-text 404 as an unknown resource, and only for resource requests', () => {
    const reply: Reply = { status: 404, headers: ['Content-Type', 'text/plain; charset=utf-8'], body: null };
    expect(classifyReply(RESIZE, reply, 'kube-apiserver')).toBe('unknown-resource');
    expect(classifyReply(ask('GET', '/healthz/none'), reply, 'kube-apiserver')).toBe('answer');
  });

  it('reads the 404 of an object whose name is the message of an unknown resource as an answer', () => {
    const exchange = ask('GET', `/api/v1/namespaces/x/pods/${encodeURIComponent(UNKNOWN)}`);
    const body = Buffer.from(JSON.stringify(status('NotFound', `pods "${UNKNOWN}" not found`)));
    const headers = ['Content-Type', 'application/json'];
    expect(classifyReply(exchange, { status: 404, headers, body }, 'kube-apiserver')).toBe('answer');
  });

  describe.each(ENCODINGS)('for the 404 of Kubernetes 1.38, a Status in %s,', (contentType, encode) => {
    const answered = (found: Status) => {
      const bytes = encode(found);
      const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
      body.push(bytes);
      const headers = ['Content-Type', contentType, 'Content-Length', String(bytes.length)];
      return { body, reply: { status: found.code, headers, body } satisfies Reply };
    };

    it('returns unknown-resource for an unknown path, and only for resource requests', async () => {
      const unknownPath = () => answered(status('NotFound', '404 page not found'));
      expect(await kindOf(RESIZE, unknownPath())).toBe('unknown-resource');
      expect(await kindOf(RESIZE, unknownPath(), 'straddle')).toBe('unknown-resource');
      expect(await kindOf(ask('GET', '/healthz/none'), unknownPath())).toBe('answer');
      expect(await kindOf(PROXY, unknownPath())).toBe('answer');
    });

    it.each([
      ['names an object in its details', status('NotFound', '404 page not found', { name: 'p', kind: 'pods' })],
      ['has more words', status('NotFound', 'pods "404 page not found" not found')],
      ['has another reason', { ...status('NotFound', '404 page not found'), reason: 'Expired' as const }],
    ])('returns answer for a Status that %s', async (_, found) => {
      expect(await kindOf(RESIZE, answered(found))).toBe('answer');
    });
  });

  describe.each(ENCODINGS)('for the refusal of a field selector, a Status in %s,', (contentType, encode) => {
    const LIST = ask('GET', '/apis/batch/v1/jobs?fieldSelector=spec.new%3Dx');
    const REFUSAL = status('BadRequest', 'field label "spec.new" not supported for Job');
    const replied = (bytes: Buffer, ...headers: string[]): Reply => {
      const body = new BodyStream({ pause() {}, resume() {}, cancel() {} });
      body.push(bytes);
      body.end();
      return {
        status: 400,
        headers: ['Content-Type', contentType, 'Content-Length', String(bytes.length), ...headers],
        body,
      };
    };
    const kind = async (exchange: Exchange, reply: Reply) =>
      classifyReply(exchange, await withRefusalRead(exchange, reply, new ManualClock()), 'kube-apiserver');

    it('returns unknown-option, compressed or not', async () => {
      expect(await kind(LIST, replied(encode(REFUSAL)))).toBe('unknown-option');
      expect(await kind(LIST, replied(gzipSync(encode(REFUSAL)), 'Content-Encoding', 'gzip'))).toBe('unknown-option');
    });

    it('returns answer for other words, and for a body that is not short when it is decompressed', async () => {
      const other = encode(status('BadRequest', 'unable to parse requirement'));
      expect(await kind(LIST, replied(other))).toBe('answer');
      const long = status('BadRequest', `field label not supported: ${'x'.repeat(5_000)}`);
      expect(await kind(LIST, replied(gzipSync(encode(long)), 'Content-Encoding', 'gzip'))).toBe('answer');
      expect(await kind(LIST, replied(encode(REFUSAL), 'Content-Encoding', 'gzip'))).toBe('answer');
      expect(await kind(LIST, replied(encode(REFUSAL), 'Content-Encoding', 'br'))).toBe('answer');
    });

    it('passes the reply to a request without such an option, or to a write, on unread', () => {
      for (const [method, target] of [
        ['GET', '/apis/batch/v1/jobs'],
        ['DELETE', '/apis/batch/v1/jobs?fieldSelector=spec.new%3Dx'],
        ['GET', '/api/v1/namespaces/x/pods/p/proxy/?fieldSelector=a%3Db'],
      ] as const) {
        const reply = replied(encode(REFUSAL));
        expect(withRefusalRead(ask(method, target), reply, new ManualClock()), target).toBe(reply);
      }
    });
  });

  it('returns draining for the 503 of a server that is shutting down', async () => {
    const refusal = () => streamed(503, DRAINING, { headers: DRAINING_HEADERS });
    expect(await kindOf(RESIZE, refusal())).toBe('draining');
    expect(await kindOf(RESIZE, streamed(503, DRAINING))).toBe('answer');
  });

  it.each([
    ['true', 'not-taken'],
    ['maybe', 'perhaps-taken'],
    ['unknown', 'unknown-resource'],
    ['else', 'answer'],
  ] as const)(
    'reads X-Straddle-Not-Taken: %s of a Straddle as %s, and ignores it from other servers',
    async (mark, kind) => {
      const marked = () => streamed(503, '{}', { headers: ['X-Straddle-Not-Taken', mark] });
      expect(await kindOf(RESIZE, marked(), 'straddle')).toBe(kind);
      expect(await kindOf(RESIZE, marked(), 'kube-apiserver')).toBe('answer');
    },
  );

  it.each([
    ['a shutdown', () => streamed(503, DRAINING, { headers: DRAINING_HEADERS })],
    ['an unknown resource', () => streamed(404, JSON.stringify(status('NotFound', UNKNOWN)))],
    ['a mark', () => streamed(503, '{}', { headers: ['X-Straddle-Not-Taken', 'true'] })],
  ])('returns answer for %s of a process in a pod behind the proxy subresource', async (_, made) => {
    expect(await kindOf(PROXY, made(), 'straddle')).toBe('answer');
  });
});

describe('withRefusalRead', () => {
  it.each([
    ['a 404 that is long', streamed(404, '{', { length: 5_000 })],
    ['a 404 of unknown length', streamed(404, '{', { length: undefined })],
    ['a 503 without the head of a shutdown', streamed(503, '{}')],
    ['a 200', streamed(200, '{}')],
  ])('passes %s on unread', (_, { reply }) => {
    expect(withRefusalRead(RESIZE, reply, new ManualClock())).toBe(reply);
  });

  it.each([
    ['a 404', streamed(404, '{', { length: 100 })],
    ['the refusal of a server that is shutting down', streamed(503, '{', { length: 100, headers: DRAINING_HEADERS })],
  ])('rejects %s that breaks off with an AttemptError', async (_, { body, reply }) => {
    const reading = withRefusalRead(RESIZE, reply, new ManualClock());
    body.fail(new Error('reset'));
    await expect(reading).rejects.toBeInstanceOf(AttemptError);
  });

  it.each([
    [404, '{', []],
    [503, '{', DRAINING_HEADERS],
  ])('rejects a short %s whose body stalls after REFUSAL_READ_MS_MAX, and cancels it', async (code, text, headers) => {
    const cancelled: string[] = [];
    const body = new BodyStream({ pause() {}, resume() {}, cancel: ({ message }) => cancelled.push(message) });
    body.push(Buffer.from(text));
    const fields = ['Content-Type', 'application/json', 'Content-Length', '100', ...headers];
    const clock = new ManualClock();
    const reading = withRefusalRead(RESIZE, { status: code, headers: fields, body }, clock) as Promise<Reply>;
    let outcome: unknown = 'pending';
    reading.catch((error: unknown) => {
      outcome = error;
    });
    await clock.advance(REFUSAL_READ_MS_MAX - 1);
    expect(outcome).toBe('pending');
    await clock.advance(1);
    expect(outcome).toMatchObject({ name: 'AttemptError', processed: 'maybe', type: 'timeout' });
    expect(cancelled).toEqual(['timeout: the reply is not complete after 5000 ms']);
  });
});

describe('throwIfNotTaken', () => {
  it('throws an AttemptError that contains whether the request may have been processed', () => {
    const thrown = (kind: ReplyKind) => () => throwIfNotTaken(kind, 'a:443');
    expect(thrown('draining')).toThrow(expect.objectContaining({ processed: 'unsent', type: 'draining' }));
    expect(thrown('not-taken')).toThrow(expect.objectContaining({ processed: 'unsent', type: 'not-taken' }));
    expect(thrown('perhaps-taken')).toThrow(expect.objectContaining({ processed: 'maybe', type: 'hang' }));
    for (const kind of ['answer', 'unknown-resource', 'unknown-option'] as const) expect(thrown(kind)).not.toThrow();
  });
});
