import { load } from 'js-yaml';
import { isObject, type JsonObject, objectMember, objectOrEmpty } from '../../kube/json.js';
import { API_SERVER } from './api-server-manifest.js';
import { type Finding, findingsOf } from './finding.js';
import type { HostFiles } from './host-files.js';
import { STRADDLE_POD } from './straddle-pod.js';

const STRADDLE = 'straddle';
const KUBE_VIP = 'kube-vip';

/** Checks the other files from which the kubelet starts pods: copies of a manifest, and owners of virtual addresses. */
export function checkStaticPods(files: HostFiles, manifestsDir: string): readonly Finding[] {
  const findings: Finding[] = [];
  const { warn, fail } = findingsOf('static pods', findings);
  const names = files.list(manifestsDir).filter((name) => !name.startsWith('.'));
  for (const name of names) {
    if (name === `${API_SERVER}.yaml` || name === STRADDLE_POD) continue;
    const path = `${manifestsDir}/${name}`;
    if (files.hasFolder(path)) continue;
    const containers = containersIn(files, path);
    if (!containers) {
      warn(`${path} could not be read; the kubelet takes it for a pod.`);
      continue;
    }
    const copied = containers.find((each) => each['name'] === API_SERVER || each['name'] === STRADDLE);
    if (copied) fail(`${path} is another pod with ${copied['name']}, which the kubelet starts too: move it elsewhere.`);
    if (containers.some(hasControlPlaneAddress)) {
      fail(
        `${path} is kube-vip with cp_enable: its virtual address moves to the nodes themselves, where Straddle does not listen.` +
          ' Use a load balancer before the nodes, or another port.',
      );
    }
  }
  return findings;
}

/** Undefined for a file that is no YAML. */
function containersIn(files: HostFiles, path: string): readonly JsonObject[] | undefined {
  try {
    const pod = objectOrEmpty(load(files.readLinked(path) ?? ''));
    const { containers } = objectMember(pod, 'spec');
    return Array.isArray(containers) ? containers.filter(isObject) : [];
  } catch {
    return undefined;
  }
}

function hasControlPlaneAddress({ image, env }: JsonObject): boolean {
  if (typeof image !== 'string' || !image.includes(KUBE_VIP) || !Array.isArray(env)) return false;
  return env.some((each) => isObject(each) && each['name'] === 'cp_enable' && each['value'] === 'true');
}
