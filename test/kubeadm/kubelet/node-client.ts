import { setTimeout as delay } from 'node:timers/promises';
import { isObject, type JsonObject, objectMember } from '../../../src/kube/json.js';
import { type Call, call, type Endpoint } from '../../real/rig/http-client.js';
import { type MirrorNode, mirroredHash, mirrorName, mirrorPod, mirrorStatus } from './mirror-pod.js';
import type { StaticPod } from './static-pod.js';

const LEASE_SECONDS = 40;
const RENEW_MS = 10_000;
const LOOK_MS = 1_000;
const TIMEOUT_MS = 5_000;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const NODES = '/api/v1/nodes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

const PODS = '/api/v1/pods';
/** Static pods of a control plane are in no other one. */
const NAMESPACE = 'kube-system';

/** What a kubelet says to the API: its node, its lease, and a mirror pod for each static pod. */
export class NodeClient {
  #node: MirrorNode | undefined;
  #renewedMs = 0;
  /** The last state that was written, by the name of the mirror pod. */
  readonly #written = new Map<string, string>();

  constructor(
    private readonly endpoint: () => Endpoint,
    private readonly name: string,
    private readonly address: string,
    private readonly pods: () => readonly StaticPod[],
    private readonly say: (line: string) => void,
  ) {}

  /** Goes on while the API answers or not. */
  async run(): Promise<never> {
    let last = '';
    for (;;) {
      try {
        await this.#look();
        last = '';
      } catch (error) {
        const text = (error as Error).message;
        if (text !== last) this.say(text);
        last = text;
      }
      await delay(LOOK_MS);
    }
  }

  async #look(): Promise<void> {
    this.#node ??= await this.#register();
    if (Date.now() - this.#renewedMs > RENEW_MS) {
      await this.#renew();
      this.#renewedMs = Date.now();
    }
    const node = this.#node;
    const pods = this.pods();
    const isWritten = (pod: StaticPod) => this.#written.get(mirrorName(pod, node.name)) === stateOf(pod, node);
    if (pods.length === this.#written.size && pods.every(isWritten)) return;
    // A node may list its pods, and get those that are there.
    const list = await this.#send([200], `${PODS}?fieldSelector=spec.nodeName%3D${node.name}`);
    const items = Array.isArray(list.body['items']) ? list.body['items'].filter(isObject) : [];
    for (const pod of pods) await this.#mirror(pod, node, items);
    for (const name of items.map(nameOf)) {
      if (!pods.some((pod) => mirrorName(pod, node.name) === name)) await this.#remove(NAMESPACE, name);
    }
  }

  async #register(): Promise<MirrorNode> {
    const { name, address } = this;
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } } };
    const created = await this.#send([201, 409], NODES, { method: 'POST', body });
    const node = created.status === 409 ? await this.#send([200], `${NODES}/${name}`) : created;
    const now = new Date().toISOString();
    const ready = { type: 'Ready', status: 'True', reason: 'Test', lastHeartbeatTime: now, lastTransitionTime: now };
    const status = {
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      // Nothing fits in: pods that tests create stay unscheduled.
      capacity: { cpu: '2', memory: '4Gi', pods: '0' },
      allocatable: { cpu: '2', memory: '4Gi', pods: '0' },
      conditions: [ready],
    };
    await this.#send([200], `${NODES}/${name}/status`, { method: 'PATCH', headers: MERGE, body: { status } });
    return { name, address, uid: String(objectMember(node.body, 'metadata')['uid']) };
  }

  async #renew(): Promise<void> {
    const { name } = this;
    const renewTime = `${new Date().toISOString().slice(0, -1)}000Z`;
    const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
    const patch: Call = { method: 'PATCH', headers: MERGE, body: { spec } };
    if ((await this.#send([200, 404], `${LEASES}/${name}`, patch)).status === 200) return;
    await this.#send([201], LEASES, { method: 'POST', body: { metadata: { name }, spec } });
  }

  async #mirror(pod: StaticPod, node: MirrorNode, items: readonly JsonObject[]): Promise<void> {
    const { namespace, hash } = pod.manifest;
    const name = mirrorName(pod, node.name);
    const state = stateOf(pod, node);
    const found = items.find((item) => nameOf(item) === name);
    if (found === undefined || mirroredHash(found) !== hash) {
      if (found !== undefined) await this.#remove(namespace, name);
      await this.#send([201], `/api/v1/namespaces/${namespace}/pods`, { method: 'POST', body: mirrorPod(pod, node) });
    }
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    const status = mirrorStatus(pod, node.address);
    await this.#send([200], path, { method: 'PATCH', headers: MERGE, body: { status } });
    this.#written.set(name, state);
  }

  async #remove(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await this.#send([200, 404], path, { method: 'DELETE', body: { gracePeriodSeconds: 0 } });
    this.#written.delete(name);
  }

  async #send(
    expected: readonly number[],
    path: string,
    options: Call = {},
  ): Promise<{ status: number; body: JsonObject }> {
    const answer = await call(this.endpoint(), path, { timeoutMs: TIMEOUT_MS, ...options });
    if (!expected.includes(answer.status)) {
      throw new Error(`${options.method ?? 'GET'} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
    const body: unknown = answer.json();
    return { status: answer.status, body: isObject(body) ? body : {} };
  }
}

/** What the API shows of a pod: its manifest and its status. */
function stateOf(pod: StaticPod, node: MirrorNode): string {
  return JSON.stringify([pod.manifest.hash, mirrorStatus(pod, node.address)]);
}

function nameOf(object: JsonObject): string {
  return String(objectMember(object, 'metadata')['name']);
}
