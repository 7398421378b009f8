/**
 * What a kubelet does for static pods, on one node of the test, without containers: it starts the command of each manifest,
 * restarts it when the manifest changes, when it ends and when its probes fail, and creates the mirror pods. Arguments: the name of the
 * node, its address, a folder for logs. Writes one JSON line for each event.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endpointOf } from '../cluster/kubeconfig-endpoint.js';
import { NodeClient } from './node-client.js';
import { type PodManifest, readPodManifest } from './pod-manifest.js';
import { type PodEvent, StaticPod } from './static-pod.js';

const MANIFESTS = '/etc/kubernetes/manifests';
const KUBECONFIG = '/etc/kubernetes/kubelet.conf';
/** A kubelet is told by the file system at once; a look costs little. */
const LOOK_MS = 250;

const [name, address, logDir] = process.argv.slice(2);
if (name === undefined || address === undefined || logDir === undefined) {
  process.stderr.write('usage: main.ts <node> <address> <log folder>\n');
  process.exit(2);
}

const pods = new Map<string, StaticPod>();
const unreadable = new Map<string, string>();
/** Files whose pod is being stopped: its successor waits. */
const busy = new Set<string>();

const report = (event: PodEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

function manifests(nodeAddress: string): Map<string, PodManifest> {
  const found = new Map<string, PodManifest>();
  let names: string[];
  try {
    // A kubelet passes over names that begin with a dot, and over no others.
    names = readdirSync(MANIFESTS).filter((each) => !each.startsWith('.'));
  } catch {
    return found;
  }
  for (const gone of [...unreadable.keys()].filter((each) => !names.includes(each))) unreadable.delete(gone);
  for (const each of names) {
    try {
      found.set(each, readPodManifest(readFileSync(join(MANIFESTS, each), 'utf8'), nodeAddress));
      unreadable.delete(each);
    } catch (error) {
      const { message } = error as Error;
      if (unreadable.get(each) !== message) process.stderr.write(`${each}: ${message}\n`);
      unreadable.set(each, message);
    }
  }
  return found;
}

function look(nodeAddress: string, logs: string): void {
  const wanted = manifests(nodeAddress);
  for (const [file, pod] of pods) {
    const isKept = wanted.get(file)?.hash === pod.manifest.hash || unreadable.has(file);
    if (isKept || busy.has(file)) continue;
    busy.add(file);
    void pod.stop().then(() => {
      pods.delete(file);
      busy.delete(file);
    });
  }
  for (const [file, manifest] of wanted) {
    if (!pods.has(file)) pods.set(file, new StaticPod(manifest, logs, report));
  }
}

// The end of the test; a kubelet would leave its containers running. All programs end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
const client = new NodeClient(
  () => endpointOf(KUBECONFIG),
  name,
  address,
  () => [...pods.values()].filter(({ state }) => state !== 'stopping'),
  (line) => process.stderr.write(`${new Date().toISOString()} ${line}\n`),
);
void client.run();
for (;;) {
  look(address, logDir);
  await delay(LOOK_MS);
}
