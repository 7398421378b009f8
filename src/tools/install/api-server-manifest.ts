import { load } from 'js-yaml';
import { type HostPort, isSameAddress } from '../../base/address.js';
import { isLoopback, isUnspecified } from '../../compose/config/addresses.js';
import { ConfigError } from '../../compose/config/config-error.js';
import { flagNamed } from '../../compose/config/flags.js';
import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { isServerVersion } from '../../kube/kube-version.js';
import { hasReference, programInPod, readFlagWords } from '../../kube/program-arguments.js';
import { ipFamily, loopbackOf } from './loopback.js';

export const API_SERVER = 'kube-apiserver';
/** The annotation in which kubeadm keeps address and port of the local API server. */
const ENDPOINT_ANNOTATION = 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint';
/** The first minor version whose kubeadm applies patches from a folder (`--patches`). */
const KUBEADM_MINOR_MIN = 22;

export const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
export type ProbeName = (typeof PROBES)[number];

/** A file or folder of the host in the container of the kube-apiserver. */
export interface HostMount {
  readonly mountPath: string;
  readonly hostPath: string;
}

/** What the static pod of a kube-apiserver, written by kubeadm, says about it. */
export interface ApiServerManifest {
  readonly path: string;
  readonly text: string;
  readonly pod: JsonObject;
  /** `v1.36.4`; undefined for an image without such a tag. */
  readonly version: string | undefined;
  /** Where clients and other servers reach it, and where Straddle is to listen. */
  readonly node: HostPort;
  /** Where it listens when Straddle has its place: the same port. */
  readonly loopback: HostPort;
  /** Whether it listens there already. */
  readonly isBehind: boolean;
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** The probes that send requests. */
  readonly probes: readonly ProbeName[];
  readonly mounts: readonly HostMount[];
  /** Undefined: root. kubeadm's feature gate RootlessControlPlane gives it a user who owns its keys. */
  readonly runAs: { readonly user: number; readonly group: number } | undefined;
}

/** Reads the static pod of a kube-apiserver. Throws ConfigError with one sentence if kubeadm did not write it like this. */
export function readApiServerManifest(path: string, text: string): ApiServerManifest {
  const pod = parsePod(path, text);
  const container = containerOf(pod, path);
  const flags = flagsOf(pod, path);
  const node = nodeAddress(flags, path);
  const loopback = { host: loopbackOf(node.host), port: node.port };
  checkOrigin(pod, path);
  return {
    path,
    text,
    pod,
    version: versionOf(container, path),
    node,
    loopback,
    isBehind: isBehind(flags, node, path),
    flags,
    probes: PROBES.filter((probe) => isObject(objectMember(container, probe)['httpGet'])),
    mounts: mountsOf(pod, container),
    runAs: userOf(pod, container),
  };
}

function parsePod(path: string, text: string): JsonObject {
  let pod: unknown;
  try {
    pod = load(text);
  } catch (error) {
    throw notKubeadm(path, `it is not one document of YAML (${(error as Error).message.split('\n', 1)[0]})`);
  }
  if (!isObject(pod) || pod['kind'] !== 'Pod') throw notKubeadm(path, 'it is not a Pod');
  return pod;
}

/** kubeadm writes one container; the patches address it by its position. */
function containerOf(pod: JsonObject, path: string): JsonObject {
  const containers = objectMember(pod, 'spec')['containers'];
  const [container, ...others] = Array.isArray(containers) ? containers : [];
  if (!isObject(container) || container['name'] !== API_SERVER) {
    throw notKubeadm(path, `its first container is not ${API_SERVER}`);
  }
  if (others.some((each) => isObject(each) && each['name'] === API_SERVER)) {
    throw notKubeadm(path, `it has two containers ${API_SERVER}`);
  }
  const command = container['command'];
  if (!Array.isArray(command) || command[0] !== API_SERVER) {
    throw notKubeadm(path, `the command of its container does not begin with ${API_SERVER}`);
  }
  return container;
}

function flagsOf(pod: JsonObject, path: string): ReadonlyMap<string, readonly string[]> {
  const found = programInPod(pod, API_SERVER);
  if (!found || 'unreadable' in found) throw notKubeadm(path, `it ${found?.unreadable ?? 'runs something else'}`);
  const { flags, stray } = readFlagWords(found.words, (name) => flagNamed(name) !== undefined);
  if (stray.length > 0) throw notKubeadm(path, `its command has the word "${stray[0]}", which belongs to no flag`);
  const byName = new Map<string, string[]>();
  for (const { name, value = 'true' } of flags) byName.set(name, [...(byName.get(name) ?? []), value]);
  return byName;
}

function checkOrigin(pod: JsonObject, path: string): void {
  const metadata = objectMember(pod, 'metadata');
  if (objectMember(metadata, 'annotations')[ENDPOINT_ANNOTATION] === undefined) {
    throw notKubeadm(path, `it has no annotation ${ENDPOINT_ANNOTATION}`);
  }
  if (objectMember(pod, 'spec')['hostNetwork'] !== true) throw notKubeadm(path, 'it has no hostNetwork');
}

function nodeAddress(flags: ApiServerManifest['flags'], path: string): HostPort {
  const host = lastValue(flags, 'advertise-address') ?? '';
  if (host.includes(',')) {
    throw new ConfigError([
      `--advertise-address in ${path} is "${host}": kube-apiserver takes one address of one family.`,
    ]);
  }
  if (ipFamily(host) === undefined || isUnspecified(host) || isLoopback(host) || hasReference(host)) {
    throw notKubeadm(path, `its --advertise-address is "${host}", which other machines cannot reach`);
  }
  const port = Number(lastValue(flags, 'secure-port') ?? 6443);
  if (!(Number.isInteger(port) && port > 0 && port < 65_536)) throw notKubeadm(path, `its --secure-port is "${port}"`);
  return { host, port };
}

/** Straddle listens at the advertised address only, so a server that had another one before must not lose it. */
function isBehind(flags: ApiServerManifest['flags'], node: HostPort, path: string): boolean {
  const bind = lastValue(flags, 'bind-address');
  if (bind === undefined || isUnspecified(bind) || isSameAddress(bind, node.host)) return false;
  if (isLoopback(bind)) return true;
  throw new ConfigError([
    `--bind-address in ${path} is ${bind} and --advertise-address ${node.host}: Straddle can only take the place of a` +
      ' kube-apiserver that listens where it is advertised.',
  ]);
}

export function lastValue(flags: ApiServerManifest['flags'], name: string): string | undefined {
  return flags.get(name)?.at(-1);
}

/** Throws for a version whose kubeadm is too old; a tag that is no version is accepted. */
function versionOf(container: JsonObject, path: string): string | undefined {
  const image = container['image'];
  const tag = typeof image === 'string' ? /:([^:/@]+)(?:@.*)?$/.exec(image)?.[1] : undefined;
  if (tag === undefined || !isServerVersion(tag)) return undefined;
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(tag) ?? [];
  if (Number(major) === 1 && Number(minor) < KUBEADM_MINOR_MIN) {
    throw new ConfigError([
      `${path} is of Kubernetes ${tag}, whose kubeadm has no --patches and would undo this at its next upgrade: 1.${KUBEADM_MINOR_MIN} or newer is needed.`,
    ]);
  }
  return tag;
}

function mountsOf(pod: JsonObject, container: JsonObject): readonly HostMount[] {
  const hostPaths = new Map<unknown, string>();
  for (const volume of objectsIn(objectMember(pod, 'spec')['volumes'])) {
    const { path } = objectMember(volume, 'hostPath');
    if (typeof path === 'string') hostPaths.set(volume['name'], path);
  }
  return objectsIn(container['volumeMounts']).flatMap(({ name, mountPath, subPath }) => {
    const hostPath = hostPaths.get(name);
    if (hostPath === undefined || typeof mountPath !== 'string') return [];
    return [{ mountPath, hostPath: typeof subPath === 'string' ? `${hostPath}/${subPath}` : hostPath }];
  });
}

function userOf(pod: JsonObject, container: JsonObject): ApiServerManifest['runAs'] {
  const context = {
    ...objectMember(objectMember(pod, 'spec'), 'securityContext'),
    ...objectMember(container, 'securityContext'),
  };
  const { runAsUser: user, runAsGroup: group } = context;
  if (typeof user !== 'number' || user === 0) return undefined;
  return { user, group: typeof group === 'number' ? group : user };
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function notKubeadm(path: string, why: string): ConfigError {
  return new ConfigError([`${path} is not the static pod that kubeadm writes for kube-apiserver: ${why}.`]);
}
