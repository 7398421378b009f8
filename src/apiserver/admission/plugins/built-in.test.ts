import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kube/json.js';
import { StatusError } from '../../../kube/status-error.js';
import { FakeObjects } from '../../contracts/object-reader.fixture.js';
import type { ResourceType } from '../../registry/resource-type.js';
import type { AdmissionRequest } from '../admission.js';
import { builtInAdmission } from './all-plugins.js';
import { certificateRequester } from './certificate-requester.js';

interface Asked {
  readonly operation: AdmissionRequest['operation'];
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly object?: JsonObject;
  readonly oldObject?: JsonObject;
}

function cluster(): FakeObjects {
  const objects = new FakeObjects();
  for (const name of ['default', 'kube-system']) {
    objects.put({ group: '', resource: 'namespaces' }, { metadata: { name }, status: { phase: 'Active' } });
  }
  objects.put({ group: '', resource: 'serviceaccounts' }, { metadata: { name: 'default', namespace: 'default' } });
  return objects;
}

/** What all plugins together make of a request: the object, or the refusal. */
async function admit(objects: FakeObjects, asked: Asked): Promise<JsonObject | StatusError | undefined> {
  const { operation, group = '', resource, namespace = '', name = 'x', object, oldObject } = asked;
  const request: AdmissionRequest = {
    operation,
    type: { group, resource, version: 'v1', namespaced: namespace !== '' } as ResourceType,
    subresource: '',
    namespace,
    name,
    pathName: name,
    verb: operation.toLowerCase(),
    object,
    oldObject,
    options: {},
    dryRun: false,
    user: { name: 'somebody', uid: 'u1', groups: ['g'], extra: new Map([['k', ['v']]]) },
    warn: () => {},
  };
  try {
    const authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
    const plugins = [...builtInAdmission(objects, authorizer), certificateRequester()];
    for (const plugin of plugins) await plugin.mutate?.(request);
    for (const plugin of plugins) await plugin.validate?.(request);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  return request.object;
}

const pod = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'x', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const createPod = (spec: JsonObject = {}): Asked => ({
  operation: 'CREATE',
  resource: 'pods',
  namespace: 'default',
  object: pod(spec),
});

describe('built-in admission plugins', () => {
  it('refuse the deletion of the namespace kube-system', async () => {
    const refusal = await admit(cluster(), { operation: 'DELETE', resource: 'namespaces', name: 'kube-system' });
    expect(refusal).toMatchObject({
      status: { code: 403, message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted' },
    });
    expect(await admit(cluster(), { operation: 'DELETE', resource: 'namespaces', name: 'mine' })).toBeUndefined();
  });

  it('allow the deletion of a pod in a namespace that does not exist', async () => {
    expect(await admit(cluster(), { operation: 'DELETE', resource: 'pods', namespace: 'gone' })).toBeUndefined();
  });

  it('refuse a second default PriorityClass, and set the default one in pods', async () => {
    const objects = cluster();
    const priorityClass = (name: string): JsonObject => ({ metadata: { name }, value: 7, globalDefault: true });
    const what = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
    objects.put(what, priorityClass('usual'));
    const refusal = await admit(objects, {
      operation: 'CREATE',
      ...what,
      name: 'other',
      object: priorityClass('other'),
    });
    expect(refusal).toMatchObject({
      message:
        'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    });
    const same = { operation: 'UPDATE' as const, ...what, name: 'usual', object: priorityClass('usual') };
    expect(await admit(objects, same)).toMatchObject({ value: 7 });
    expect(await admit(objects, createPod())).toMatchObject({ spec: { priority: 7, priorityClassName: 'usual' } });
  });

  it('mount the token volume that a pod already has', async () => {
    const volumes = [{ name: 'kube-api-access-mine', emptyDir: {} }];
    const made = (await admit(cluster(), createPod({ volumes }))) as JsonObject;
    expect(made).toMatchObject({
      spec: { volumes, containers: [{ volumeMounts: [{ name: 'kube-api-access-mine' }] }] },
    });
  });

  it('add overhead and node selector of a RuntimeClass to its pods, and refuse pods that conflict with it', async () => {
    const objects = cluster();
    objects.put(
      { group: 'node.k8s.io', resource: 'runtimeclasses' },
      {
        metadata: { name: 'kata' },
        handler: 'kata',
        overhead: { podFixed: { cpu: '250m' } },
        scheduling: { nodeSelector: { rt: 'kata' }, tolerations: [{ key: 'rt', operator: 'Exists' }] },
      },
    );
    expect(await admit(objects, createPod({ runtimeClassName: 'kata' }))).toMatchObject({
      spec: { overhead: { cpu: '250m' }, nodeSelector: { rt: 'kata' } },
    });
    const contrary = { runtimeClassName: 'kata', nodeSelector: { rt: 'runc' } };
    expect(await admit(objects, createPod(contrary))).toMatchObject({
      message:
        'pods "x" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[rt] = kata; pod.spec.nodeSelector[rt] = runc',
    });
    expect(await admit(objects, createPod({ overhead: { cpu: '1' } }))).toMatchObject({ status: { code: 403 } });
  });

  it('refuse PersistentVolumeClaims beyond the LimitRange of their namespace', async () => {
    const objects = cluster();
    objects.put(
      { group: '', resource: 'limitranges' },
      {
        metadata: { name: 'r', namespace: 'default' },
        spec: { limits: [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } }] },
      },
    );
    const claim = (storage: string): Asked => ({
      operation: 'CREATE',
      resource: 'persistentvolumeclaims',
      namespace: 'default',
      object: { metadata: { name: 'x' }, spec: { resources: { requests: { storage } } } },
    });
    expect(await admit(objects, claim('9Gi'))).toMatchObject({
      message:
        'persistentvolumeclaims "x" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 9Gi',
    });
    expect(await admit(objects, claim('2Gi'))).toMatchObject({
      metadata: { finalizers: ['kubernetes.io/pvc-protection'] },
    });
  });

  it('set the requester of a CertificateSigningRequest, and ignore the user in its spec', async () => {
    const made = await admit(cluster(), {
      operation: 'CREATE',
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      object: { metadata: { name: 'x' }, spec: { username: 'system:admin', groups: ['system:masters'] } },
    });
    expect(made).toMatchObject({ spec: { username: 'somebody', uid: 'u1', groups: ['g'], extra: { k: ['v'] } } });
  });

  it('set the newest default StorageClass in a PersistentVolumeClaim', async () => {
    const objects = cluster();
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    for (const [name, creationTimestamp] of [
      ['old', '2025-01-01T00:00:00Z'],
      ['new', '2026-01-01T00:00:00Z'],
    ]) {
      const metadata = { name: name!, creationTimestamp: creationTimestamp!, annotations };
      objects.put({ group: 'storage.k8s.io', resource: 'storageclasses' }, { metadata });
    }
    const asked: Asked = {
      operation: 'CREATE',
      resource: 'persistentvolumeclaims',
      namespace: 'default',
      object: { metadata: { name: 'x' }, spec: {} },
    };
    expect(await admit(objects, asked)).toMatchObject({ spec: { storageClassName: 'new' } });
  });
});
