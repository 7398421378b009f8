import { createHash } from 'node:crypto';
import { load } from 'js-yaml';
import { isObject, type JsonObject, objectOrEmpty } from '../../../src/kube/json.js';

/** An HTTP probe with the defaults of Kubernetes. */
export interface HttpProbe {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly isHttps: boolean;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly failuresMax: number;
}

export interface PodManifest {
  readonly name: string;
  readonly namespace: string;
  /** Of the text, as a kubelet tells by it whether a manifest has changed. */
  readonly hash: string;
  /** The pod as it stands in the file. */
  readonly pod: JsonObject;
  readonly container: JsonObject;
  readonly containerName: string;
  readonly image: string;
  /** Command and arguments, with variables replaced. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly graceMs: number;
  readonly startup: HttpProbe | undefined;
  readonly liveness: HttpProbe | undefined;
  readonly readiness: HttpProbe | undefined;
}

const GRACE_SECONDS = 30;

/** Reads the manifest of a static pod with one container on the network of its node. Throws for anything else. */
export function readPodManifest(text: string, nodeAddress: string): PodManifest {
  const pod = objectOrEmpty(load(text));
  const metadata = objectOrEmpty(pod['metadata']);
  const spec = objectOrEmpty(pod['spec']);
  const containers = Array.isArray(spec['containers']) ? spec['containers'].filter(isObject) : [];
  const [container] = containers;
  const name = metadata['name'];
  if (pod['kind'] !== 'Pod' || typeof name !== 'string' || container === undefined || containers.length !== 1) {
    throw new Error('not the manifest of a pod with a name and one container');
  }
  if (spec['hostNetwork'] !== true)
    throw new Error('the pod has a network of its own, which nodes of the test do not have');
  const env = environmentOf(container, nodeAddress);
  const words = [...stringsOf(container['command']), ...stringsOf(container['args'])];
  const probe = (key: string) => probeOf(container, key, nodeAddress);
  return {
    name,
    namespace: typeof metadata['namespace'] === 'string' ? metadata['namespace'] : 'default',
    hash: createHash('sha256').update(text).digest('hex').slice(0, 32),
    pod,
    container,
    containerName: String(container['name']),
    image: String(container['image']),
    command: words.map((word) => word.replace(/\$\((\w+)\)/g, (whole, variable: string) => env[variable] ?? whole)),
    env,
    graceMs: numberOf(spec['terminationGracePeriodSeconds'], GRACE_SECONDS) * 1000,
    startup: probe('startupProbe'),
    liveness: probe('livenessProbe'),
    readiness: probe('readinessProbe'),
  };
}

function environmentOf(container: JsonObject, nodeAddress: string): Record<string, string> {
  const entries = Array.isArray(container['env']) ? container['env'].filter(isObject) : [];
  return Object.fromEntries(entries.map((entry) => [String(entry['name']), valueOfVariable(entry, nodeAddress)]));
}

function valueOfVariable(entry: JsonObject, nodeAddress: string): string {
  if (typeof entry['value'] === 'string') return entry['value'];
  const field = objectOrEmpty(objectOrEmpty(entry['valueFrom'])['fieldRef'])['fieldPath'];
  // One address: the pod has the network of the node.
  if (field === 'status.hostIP' || field === 'status.podIP') return nodeAddress;
  throw new Error(`the variable ${entry['name']} comes from a place that nodes of the test do not have`);
}

function probeOf(container: JsonObject, key: string, nodeAddress: string): HttpProbe | undefined {
  const probe = container[key];
  if (!isObject(probe)) return undefined;
  const get = probe['httpGet'];
  if (!isObject(get)) throw new Error(`${key} is no httpGet`);
  return {
    host: typeof get['host'] === 'string' ? get['host'] : nodeAddress,
    port: portOf(container, get['port']),
    path: typeof get['path'] === 'string' ? get['path'] : '/',
    isHttps: get['scheme'] === 'HTTPS',
    initialDelayMs: numberOf(probe['initialDelaySeconds'], 0) * 1000,
    periodMs: numberOf(probe['periodSeconds'], 10) * 1000,
    timeoutMs: numberOf(probe['timeoutSeconds'], 1) * 1000,
    failuresMax: numberOf(probe['failureThreshold'], 3),
  };
}

function portOf(container: JsonObject, port: unknown): number {
  if (typeof port === 'number') return port;
  const ports = Array.isArray(container['ports']) ? container['ports'].filter(isObject) : [];
  const named = ports.find((each) => each['name'] === port)?.['containerPort'];
  if (typeof named !== 'number') throw new Error(`the container has no port ${String(port)}`);
  return named;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
