import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { createLogger, silentLogger } from '../../base/logger.js';
import { headerValue } from '../../http/headers.js';
import { StatusError } from '../../kube/status-error.js';
import { exchangeFor } from '../discovery/exchange.fixture.js';
import { errorsFilter } from './errors-filter.js';

const failing = (error: unknown, headers: string[] = [], method = 'GET', logger = silentLogger) => {
  const exchange = exchangeFor('/api/v1/pods', { method, headers });
  return errorsFilter(logger).wrap(() => Promise.reject(error))(exchange);
};

const gone = () => new StatusError('ServiceUnavailable', 'pods cannot be served', { retryAfterSeconds: 3 });

describe('errors filter, StatusError', () => {
  it('replies with a Status in JSON by default, with Retry-After and Content-Length', async () => {
    for (const accept of [[], ['Accept', 'application/json'], ['Accept', '*/*'], ['Accept', 'text/html']]) {
      const reply = await failing(gone(), accept);
      const status = JSON.parse(Buffer.from(reply.body as Uint8Array).toString());
      expect(reply.status).toBe(503);
      expect(headerValue(reply.headers, 'content-type')).toBe('application/json');
      expect(headerValue(reply.headers, 'retry-after')).toBe('3');
      expect(headerValue(reply.headers, 'content-length')).toBe(String((reply.body as Uint8Array).byteLength));
      expect(status).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 503 });
      expect(status).toMatchObject({ reason: 'ServiceUnavailable', message: 'pods cannot be served' });
    }
  });

  it('replies with YAML if accepted', async () => {
    const reply = await failing(gone(), ['Accept', 'application/yaml, application/json']);
    expect(headerValue(reply.headers, 'content-type')).toBe('application/yaml');
    expect(load(Buffer.from(reply.body as Uint8Array).toString())).toMatchObject({ kind: 'Status', code: 503 });
  });

  it('replies with Kubernetes protobuf if accepted', async () => {
    const reply = await failing(gone(), ['Accept', 'application/vnd.kubernetes.protobuf;q=1,application/json']);
    expect(headerValue(reply.headers, 'content-type')).toBe('application/vnd.kubernetes.protobuf');
    const bytes = Buffer.from(reply.body as Uint8Array);
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('k8s\0');
    expect(bytes.includes('pods cannot be served')).toBe(true);
    // Field 6, code: varint 503.
    expect(bytes.includes(Buffer.from([0x30, 0xf7, 0x03]))).toBe(true);
  });

  it('replies to HEAD with the same headers and no body', async () => {
    const reply = await failing(gone(), [], 'HEAD');
    expect(reply.body).toBeNull();
    expect(Number(headerValue(reply.headers, 'content-length'))).toBeGreaterThan(50);
  });

  it('sends Retry-After with 503 and 429 only, and WWW-Authenticate with 401', async () => {
    const field = async (error: StatusError, name: string) => headerValue((await failing(error)).headers, name);
    expect(await field(new StatusError('TooManyRequests', 'x'), 'retry-after')).toBe('1');
    expect(await field(new StatusError('NotFound', 'x'), 'retry-after')).toBeUndefined();
    expect(await field(new StatusError('Unauthorized', 'x'), 'www-authenticate')).toContain('Bearer');
  });
});

describe('errors filter, unexpected error', () => {
  it('replies with 500 without internals, and logs the error with its stack', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'error', format: 'json', write: (line) => lines.push(line), nowMs: () => 0 });
    const reply = await failing(new TypeError('secret inside'), [], 'GET', logger);
    expect(reply.status).toBe(500);
    expect(Buffer.from(reply.body as Uint8Array).toString()).not.toContain('secret');
    expect(JSON.parse(lines[0]!)).toMatchObject({
      error: 'secret inside',
      stack: expect.stringContaining('TypeError'),
    });
  });

  it('logs nothing after the client has disconnected', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'debug', format: 'json', write: (line) => lines.push(line), nowMs: () => 0 });
    const exchange = exchangeFor('/');
    exchange.abort();
    await errorsFilter(logger).wrap(() => Promise.reject(new Error('gone')))(exchange);
    expect(lines).toEqual([]);
  });

  it('handles an error that is thrown synchronously', async () => {
    const handler = errorsFilter(silentLogger).wrap(() => {
      throw new StatusError('BadRequest', 'no');
    });
    expect((await handler(exchangeFor('/'))).status).toBe(400);
  });
});
