import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { ApiConnection, type ApiConnectionOptions, type WatchEnd } from './api-connection.js';
import { startHttpsServer } from './https-server.fixture.js';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of closings.splice(0).reverse()) await each();
});

async function connectionTo(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: ApiConnectionOptions = {},
): Promise<ApiConnection> {
  const { access, close } = await startHttpsServer(answer);
  closings.push(close);
  const api = new ApiConnection(access, options);
  closings.push(() => api.close());
  return api;
}

function watched(api: ApiConnection, signal: AbortSignal, onOpen = () => {}): Promise<WatchEnd> {
  return api.watch('/api/v1/pods?watch=true', { signal, onOpen, onEvent: () => {} });
}

describe("the rehearsal's API client", () => {
  it('sends the body with its type and the client certificate, and returns status and object', async () => {
    const seen: unknown[] = [];
    const api = await connectionTo((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate();
        seen.push(request.method, request.url, request.headers['content-type'], String(Buffer.concat(chunks)));
        seen.push(subject.CN);
        response.writeHead(409).end('{"message":"conflict"}');
      });
    });
    const answer = await api.request({ method: 'PATCH', target: '/x?a=b', body: { a: 1 }, contentType: 'text/patch' });
    expect(answer).toEqual({ status: 409, body: { message: 'conflict' } });
    expect(seen).toEqual(['PATCH', '/x?a=b', 'text/patch', '{"a":1}', 'admin']);
  });

  it('keeps connections for later requests, and opens no more than 16 at once', async () => {
    const sockets = new Set<unknown>();
    const waiting: ServerResponse[] = [];
    const api = await connectionTo((request, response) => {
      sockets.add(request.socket);
      waiting.push(response);
    });
    const all = Promise.all(Array.from({ length: 40 }, () => api.request({ method: 'GET', target: '/' })));
    for (let answered = 0; answered < 40; answered++) {
      await until(() => waiting.length > 0, 'a request');
      waiting.shift()!.end('{}');
    }
    await all;
    expect(sockets.size).toBe(16);
  });

  it('rejects with "timeout" if the reply is not complete in time', async () => {
    const api = await connectionTo((_, response) => void response.write('{'), { timeoutMs: 50 });
    await expect(api.request({ method: 'GET', target: '/' })).rejects.toThrow(
      /^timeout: no reply from https:.* 0\.05 s$/,
    );
  });

  it('ends a watch as cut with "timeout" if the head of its reply is late, and has no timeout after the head', async () => {
    const late = await connectionTo(() => {}, { timeoutMs: 50 });
    const end = await watched(late, new AbortController().signal);
    expect(end).toEqual({ how: 'cut', why: expect.stringMatching(/^timeout: /) });

    const watches: ServerResponse[] = [];
    const api = await connectionTo(
      (request, response) => {
        if (!request.url!.includes('watch=true')) return;
        response.writeHead(200).flushHeaders();
        watches.push(response);
      },
      { timeoutMs: 500 },
    );
    const watch = watched(api, new AbortController().signal);
    await until(() => watches.length === 1, 'a watch');
    // Twice the time of the watch's head: this one begins after it and waits in vain.
    for (const target of ['/1', '/2']) await expect(api.request({ method: 'GET', target })).rejects.toThrow('timeout');
    watches[0]!.end();
    expect(await watch).toEqual({ how: 'in order' });
  });

  it('ends a watch in order at its signal, and as cut if the connection is lost', async () => {
    const responses: ServerResponse[] = [];
    const api = await connectionTo((_, response) => {
      response.writeHead(200).flushHeaders();
      responses.push(response);
    });
    const stop = new AbortController();
    expect(await watched(api, stop.signal, () => stop.abort())).toEqual({ how: 'in order' });
    const cut = watched(api, new AbortController().signal, () => responses.at(-1)!.destroy());
    expect(await cut).toEqual({ how: 'cut', why: expect.any(String) });
  });

  it('rejects every waiting call when it is closed, also those that wait for a connection', async () => {
    let came = 0;
    const api = await connectionTo(() => {
      came += 1;
    });
    const calls = Array.from({ length: 20 }, () => api.request({ method: 'GET', target: '/' }));
    await until(() => came === 16, '16 requests');
    api.close();
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    expect(came).toBe(16);
  });
});
