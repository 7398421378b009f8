import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCa, makeServer } from '../../../http/tls/pki.fixture.js';
import type { Json, JsonObject } from '../../../kube/json.js';
import { StatusError } from '../../../kube/status-error.js';
import { loadSurface } from '../../surfaces/load-surface.js';
import type { AdmissionRequest } from '../admission.js';
import { type HookServer, startHookServer } from './hook-server.fixture.js';
import { mutatingWebhooks } from './mutating-webhooks.js';
import { validatingWebhooks } from './validating-webhooks.js';
import { HOOK_CASES } from './webhook-cases.fixture.js';
import { hook, makeDeps, makeRequest, makeType, putConfiguration } from './webhooks.fixture.js';

interface Recorded {
  readonly name: string;
  readonly status: number;
  readonly warning?: string;
  readonly data?: Json;
  readonly answer?: JsonObject;
}

const recorded = JSON.parse(readFileSync(new URL('./webhooks.recorded.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Recorded[];
  readonly reviews: readonly JsonObject[];
};

const ca = makeCa('hooks');
let hooks: HookServer;
let misnamed: HookServer;
const surface = await loadSurface('1.36');
const configMaps = makeType({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  schema: surface.kind('', 'v1', 'ConfigMap')!.schema,
});

beforeAll(async () => {
  hooks = await startHookServer(makeServer(ca));
  misnamed = await startHookServer(makeServer(ca, { dnsNames: ['elsewhere.test'], ipAddresses: [] }));
});
afterAll(async () => {
  await hooks.close();
  await misnamed.close();
});

function configured(name: string) {
  const { server, mutating, webhook } = HOOK_CASES.find((each) => each.name === name)!;
  const kind = mutating ? 'mutating' : 'validating';
  const { deps, objects, outbound } = makeDeps({
    isKnownKind: (apiVersion, each) => apiVersion === 'v1' && each === 'Pod',
  });
  const port = server === 'closed' ? 9 : (server === 'wrong-name' ? misnamed : hooks).port;
  const caPem = server === 'wrong-ca' ? makeCa('strangers').pem : ca.pem;
  const service = { clientConfig: { service: { namespace: 'default', name: 'nobody', path: '/x' } } };
  putConfiguration(objects, kind, 'cases', [
    hook(name, { port, caPem }, { ...(server === 'missing-service' ? service : {}), ...webhook }),
  ]);
  const plugin = mutating ? mutatingWebhooks(deps) : validatingWebhooks(deps);
  const admit = async (request: AdmissionRequest) => {
    await plugin.mutate?.(request);
    await plugin.validate?.(request);
  };
  return { admit, outbound };
}

/** Uids differ from call to call, ports from run to run. */
function settled(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '$UID')
    .replaceAll(`:${hooks.port}/`, ':$PORT/')
    .replaceAll(`:${misnamed.port}/`, ':$PORT/');
}

describe('admission by webhook', () => {
  it.each(recorded.cases.map((each) => [each.name, each] as const))(
    'has the outcome recorded from kube-apiserver for the webhook reply %s',
    async (name, expected) => {
      const { admit, outbound } = configured(name);
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
      const { request, warnings } = makeRequest(configMaps, { name, object });
      const outcome = await admit(request).catch((error: unknown) => error);
      await outbound.close();
      if (expected.answer === undefined) {
        expect(outcome).toBeUndefined();
        expect(request.object?.['data'] ?? null).toEqual(expected.data);
        expect(request.object?.['kind']).toBe('ConfigMap');
        const header = warnings.map((text) => `299 - "${text}"`).join(', ');
        expect(header).toBe(expected.warning ?? '');
      } else {
        expect(outcome).toBeInstanceOf(StatusError);
        const answer = JSON.stringify((outcome as StatusError).status);
        expect(JSON.parse(settled(answer))).toEqual(JSON.parse(settled(JSON.stringify(expected.answer))));
      }
    },
  );

  it.each(recorded.reviews.map((each) => [each] as const))(
    'sends the AdmissionReview recorded from kube-apiserver (review %#)',
    async (expected) => {
      const { admit, outbound } = configured('allowed');
      const asked = expected['request'] as JsonObject;
      const userInfo = asked['userInfo'] as { username: string; groups: string[]; extra: Record<string, string[]> };
      const { request } = makeRequest(configMaps, {
        operation: asked['operation'] as AdmissionRequest['operation'],
        name: (asked['name'] as string | undefined) ?? '',
        object: (asked['object'] as JsonObject | null) ?? undefined,
        oldObject: (asked['oldObject'] as JsonObject | null) ?? undefined,
        options: asked['options'] as JsonObject,
        dryRun: asked['dryRun'] as boolean,
        user: {
          name: userInfo.username,
          uid: '',
          groups: userInfo.groups,
          extra: new Map(Object.entries(userInfo.extra)),
        },
      });
      hooks.reviews.length = 0;
      await admit(request);
      await outbound.close();
      const [review] = hooks.reviews;
      const uid = (review!['request'] as JsonObject)['uid']!;
      expect(review).toEqual({ ...expected, request: { ...asked, uid } });
    },
  );
});
