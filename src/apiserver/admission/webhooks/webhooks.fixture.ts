import { silentLogger } from '../../../base/logger.js';
import type { Json, JsonObject } from '../../../kube/json.js';
import { FakeObjects } from '../../contracts/object-reader.fixture.js';
import { OutboundCalls } from '../../outbound/outbound-calls.js';
import type { ResourceType, Subresource } from '../../registry/resource-type.js';
import type { Strategy } from '../../registry/strategy.js';
import type { AdmissionRequest } from '../admission.js';
import type { WebhookDeps } from './webhook-deps.js';

export const CONFIG_MAP: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', namespace: 'default', labels: { app: 'demo' } },
};

type TypeParts = Pick<ResourceType, 'group' | 'version' | 'resource' | 'kind'> & Partial<ResourceType>;

/** A type of which webhooks see what they look at; the rest is never asked for. */
export function makeType(parts: TypeParts): ResourceType {
  const strategy = { setDefaults: (object: JsonObject) => object } as unknown as Strategy;
  return {
    namespaced: true,
    origin: 'built-in',
    subresources: new Map<string, Subresource>(),
    schema: {},
    strategy,
    conversion: {
      isTrivial: true,
      toServed: async (objects: readonly JsonObject[]) => [...objects],
      toStored: async (objects: readonly JsonObject[]) => [...objects],
    },
    ...parts,
  } as ResourceType;
}

export function makeRequest(type: ResourceType, more: Partial<AdmissionRequest> = {}) {
  const warnings: string[] = [];
  const request: AdmissionRequest = {
    operation: 'CREATE',
    type,
    subresource: '',
    namespace: 'default',
    name: 'x',
    pathName: '',
    verb: 'create',
    object: CONFIG_MAP,
    oldObject: undefined,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    dryRun: false,
    user: { name: 'alice', uid: '', groups: ['developers'], extra: new Map() },
    warn: (text) => warnings.push(text),
    ...more,
  };
  return { request, warnings };
}

export function makeDeps(more: Partial<WebhookDeps> = {}) {
  const objects = new FakeObjects();
  const outbound = new OutboundCalls();
  const deps: WebhookDeps = {
    objects,
    outbound,
    equivalentTypes: (type) => [type],
    compileMatchCondition: () => () => true,
    logger: silentLogger,
    ...more,
  };
  return { deps, objects, outbound };
}

export interface HookOptions {
  readonly port: number;
  readonly caPem: string;
}

/** One entry of a configuration that calls a server of this machine, on a path with the name of the webhook. */
export function hook(
  name: string,
  { port, caPem }: HookOptions,
  more: { readonly [key: string]: Json } = {},
): JsonObject {
  return {
    name: `${name}.hooks.test`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
    clientConfig: { url: `https://127.0.0.1:${port}/${name}`, caBundle: Buffer.from(caPem).toString('base64') },
    ...more,
  };
}

export function putConfiguration(
  objects: FakeObjects,
  kind: 'mutating' | 'validating',
  name: string,
  webhooks: readonly JsonObject[],
): void {
  objects.put(
    { group: 'admissionregistration.k8s.io', resource: `${kind}webhookconfigurations` },
    { metadata: { name }, webhooks: [...webhooks] },
  );
}
