import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from '../../../http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../../kube/json.js';
import { HOOK_CASES, type HookAnswer } from './webhook-cases.fixture.js';

export interface HookServer {
  readonly port: number;
  /** The reviews that came, with the path and query they came on. */
  readonly reviews: JsonObject[];
  readonly paths: string[];
  close(): Promise<void>;
}

type Behaviour = HookAnswer | undefined;
export type HookBehaviour = (path: string, review: JsonObject) => Behaviour | Promise<Behaviour>;

/** A webhook server that does what the case its path names says, or what a test says. */
export async function startHookServer(
  certificate: TestCertificate,
  behave: HookBehaviour = (path) => HOOK_CASES.find((each) => `/${each.name}` === path)?.answer,
): Promise<HookServer> {
  const reviews: JsonObject[] = [];
  const paths: string[] = [];
  const server = createServer({ cert: certificate.pem, key: certificate.keyPem }, async (request, response) => {
    const body = await bodyOf(request).catch(() => '{}');
    const review = JSON.parse(body) as JsonObject;
    reviews.push(review);
    paths.push(request.url ?? '');
    answer(response, review, await behave(request.url?.split('?')[0] ?? '', review));
  });
  // Closing an idle connection races with the next request on it, which then fails with a reset.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    reviews,
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, review: JsonObject, what: HookAnswer | undefined): void {
  if (what?.instead === 'hang') return;
  if (what?.instead === 'close') {
    response.destroy();
    return;
  }
  const uid = String((review['request'] as JsonObject | undefined)?.['uid'] ?? '');
  const text = what?.text ?? JSON.stringify((what?.body ?? {}) as Json).replaceAll('$UID', uid);
  response.writeHead(what?.status ?? 200, { 'Content-Type': what?.contentType ?? 'application/json' });
  response.end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
