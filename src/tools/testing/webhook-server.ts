import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { rawPath } from '../../base/target.js';
import { type IssuedCertificate, issueCertificate } from '../../http/tls/issue-certificate.js';
import { isObject, type JsonObject, objectMember, parsedObject } from '../../kube/json.js';
import { checkKeys, shown } from './check-keys.js';
import { HOST } from './test-server-config.js';
import { type AdmissionAnswer, type AdmissionRequest, type WebhookOption, webhookConfiguration } from './webhooks.js';

const DAYS = 30;
const REVIEW_BYTES_MAX = 16 * 1024 * 1024;
const NAMES: Record<keyof WebhookOption, true> = {
  name: true,
  type: true,
  rules: true,
  handler: true,
  failurePolicy: true,
  matchPolicy: true,
  namespaceSelector: true,
  objectSelector: true,
  matchConditions: true,
  reinvocationPolicy: true,
  timeoutSeconds: true,
  sideEffects: true,
};

/** Throws for webhooks that callers without TypeScript may have got wrong. */
export function checkWebhooks(webhooks: readonly WebhookOption[]): void {
  if (!Array.isArray(webhooks)) throw new Error(`webhooks: give a list of webhooks, not ${shown(webhooks)}.`);
  const names = new Set<string>();
  for (const webhook of webhooks as readonly WebhookOption[]) {
    if (!isObject(webhook)) throw new Error(`webhooks: ${shown(webhook)} is no webhook; give an object.`);
    const { name, type, rules, handler } = webhook as unknown as WebhookOption;
    if (typeof name !== 'string' || name === '')
      throw new Error('webhooks: each needs a name, such as widgets.example.com.');
    checkKeys(`webhooks: ${name}`, webhook, Object.keys(NAMES));
    if (typeof handler !== 'function') throw new Error(`webhooks: ${name} needs a handler, which is a function.`);
    if (!Array.isArray(rules) || rules.length === 0)
      throw new Error(`webhooks: ${name} needs rules, or it is never asked.`);
    if (type !== undefined && type !== 'validating' && type !== 'mutating')
      throw new Error(`webhooks: ${name}: type is validating or mutating, not ${shown(type)}.`);
    if (names.has(name)) throw new Error(`webhooks: there are two of the name ${name}.`);
    names.add(name);
  }
}

/** Serves the handlers of webhooks over TLS, with a certificate of the control plane's authority. */
export class WebhookServer {
  readonly #webhooks: readonly WebhookOption[];
  readonly #ca: IssuedCertificate;
  readonly #server: Server;

  constructor(webhooks: readonly WebhookOption[], ca: IssuedCertificate) {
    this.#webhooks = webhooks;
    this.#ca = ca;
    const names = { commonName: 'straddle-testing-webhooks', dnsNames: ['localhost'], ipAddresses: [HOST] };
    const { certPem, keyPem } = issueCertificate(ca, { ...names, usage: 'server', days: DAYS });
    this.#server = createServer(
      { cert: certPem, key: keyPem },
      (request, response) => void this.#answer(request, response),
    );
  }

  /** Listens. Resolves with the configurations to create. */
  async start(): Promise<ReturnType<typeof webhookConfiguration>[]> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, HOST, resolve);
    });
    const { port } = this.#server.address() as AddressInfo;
    return this.#webhooks.map((webhook, index) =>
      webhookConfiguration(webhook, { url: `https://${HOST}:${port}/${index}`, ca: this.#ca.certPem }),
    );
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const webhook = this.#webhooks[Number(rawPath(request.url?.slice(1) ?? ''))];
      if (!webhook) throw new Error(`there is no webhook at ${request.url}`);
      const review = parsedObject(await bodyOf(request));
      const asked = objectMember(review, 'request') as unknown as AdmissionRequest;
      const answer = responseOf(asked, (await webhook.handler(asked)) ?? true);
      send(response, 200, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer });
    } catch (error) {
      // The API server quotes it to its client.
      send(response, 500, {
        error: `the handler has thrown: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
}

function responseOf(asked: AdmissionRequest, verdict: boolean | string | AdmissionAnswer): object {
  const { uid } = asked;
  if (typeof verdict === 'boolean') return { uid, allowed: verdict };
  if (typeof verdict === 'string') return { uid, allowed: false, status: { message: verdict, code: 403 } };
  const { allowed = true, message, code = 403, warnings, auditAnnotations, object, patch } = verdict;
  const changes = patch ?? (object === undefined ? undefined : changesTo(asked.object as JsonObject, object));
  return {
    uid,
    allowed,
    ...(allowed ? {} : { status: { message: message ?? 'refused by a webhook of the test', code } }),
    ...(warnings === undefined ? {} : { warnings }),
    ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
    ...(changes === undefined || changes.length === 0
      ? {}
      : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(changes)).toString('base64') }),
  };
}

/** Returns the JSON patch, member by member of the object. */
function changesTo(before: JsonObject, wanted: object): object[] {
  const after = JSON.parse(JSON.stringify(wanted)) as JsonObject;
  const pathOf = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const changed = Object.keys(after).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  return [
    ...removed.map((key) => ({ op: 'remove', path: pathOf(key) })),
    // `add` replaces a member that is there.
    ...changed.map((key) => ({ op: 'add', path: pathOf(key), value: after[key] })),
  ];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > REVIEW_BYTES_MAX) throw new Error(`the review has more than ${REVIEW_BYTES_MAX} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}
