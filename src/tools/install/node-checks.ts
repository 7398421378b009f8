import { load } from 'js-yaml';
import { formatHostPort, type HostPort, hostPortOf, isSameAddress } from '../../base/address.js';
import { isLoopback } from '../../compose/config/addresses.js';
import { parseKubeconfig } from '../../compose/config/kubeconfig.js';
import { objectOrEmpty } from '../../kube/json.js';
import { type ApiServerManifest, lastValue } from './api-server-manifest.js';
import { isAmong, type Machine, otherOwnAddress } from './endpoints.js';
import { type Finding, findingsOf } from './finding.js';
import type { HostFiles } from './host-files.js';
import { answerText, type ServerAnswer } from './server-probe.js';
import { checkStaticPods } from './static-pods.js';

const KUBELET_CONFIG = '/var/lib/kubelet/config.yaml';
export const ADMIN_KUBECONFIG = '/etc/kubernetes/admin.conf';
const KUBECONFIGS = ['admin.conf', 'kubelet.conf', 'controller-manager.conf', 'scheduler.conf'];
/** Flags about serving that Straddle does not have, and what their loss means. */
const SERVING_FLAGS: Readonly<Record<string, string>> = {
  'tls-sni-cert-key': 'clients that ask for one of its names get the certificate of --tls-cert-file',
  'tls-cipher-suites': 'clients choose among the cipher suites of Node.js',
  'tls-min-version': 'clients may use TLS 1.2',
};
const RIGHTS = [
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?limit=1',
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?limit=1',
];

export interface NodeChecks {
  readonly files: HostFiles;
  readonly manifest: ApiServerManifest;
  readonly manifestsDir: string;
  readonly machine: Machine;
}

/** Checks what this machine does with the address that Straddle will take. */
export async function checkNode(checks: NodeChecks): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  checkAddress(checks, findings);
  checkKubelet(checks, findings);
  findings.push(...checkStaticPods(checks.files, checks.manifestsDir));
  await checkKubeconfigs(checks, findings);
  const { warn } = findingsOf('serving flags', findings);
  for (const [flag, loss] of Object.entries(SERVING_FLAGS)) {
    if (lastValue(checks.manifest.flags, flag) !== undefined) warn(`Straddle has no --${flag}: ${loss}.`);
  }
  return findings;
}

function checkAddress({ manifest, machine }: NodeChecks, findings: Finding[]): void {
  const { ok, fail } = findingsOf('address', findings);
  const { host } = manifest.node;
  if (isAmong(host, machine.addresses)) ok(`${host} is an address of this machine.`);
  else
    fail(
      `${host}, where the kube-apiserver is advertised, is no address of this machine (behind NAT?), so Straddle cannot listen there.`,
    );
}

function checkKubelet({ files, manifestsDir }: NodeChecks, findings: Finding[]): void {
  const { ok, warn, fail } = findingsOf('kubelet', findings);
  const text = files.readLinked(KUBELET_CONFIG);
  let folder: unknown;
  try {
    folder = text === undefined ? undefined : objectOrEmpty(load(text))['staticPodPath'];
  } catch {
    folder = undefined;
  }
  if (typeof folder !== 'string')
    warn(`${KUBELET_CONFIG} names no folder of static pods: the kubelet is assumed to look into ${manifestsDir}.`);
  else if (folder.replace(/\/$/, '') === manifestsDir) ok(`The kubelet starts what is in ${manifestsDir}.`);
  else fail(`The kubelet starts what is in ${folder}, not in ${manifestsDir}: give --manifests-dir=${folder}.`);
}

/** A virtual address on this machine is one that nobody listens at when Straddle has taken the node's own. */
async function checkKubeconfigs({ files, manifest, machine }: NodeChecks, findings: Finding[]): Promise<void> {
  const { ok, warn, fail } = findingsOf('kubeconfigs', findings);
  const { node } = manifest;
  for (const name of KUBECONFIGS) {
    const path = `/etc/kubernetes/${name}`;
    const server = serverOf(files, path);
    if (server === undefined) continue;
    const { host, port } = hostPortOf(new URL(server));
    const other = await otherOwnAddress(host, node, machine);
    if (isSameAddress(host, node.host) && port === node.port) ok(`${path} uses ${server}, which is Straddle's.`);
    else if (isLoopback(host))
      warn(
        `${path} uses ${server}: its requests pass Straddle by; change the server to https://${formatHostPort(node)}.`,
      );
    else if (other !== undefined) {
      fail(
        `${path} uses ${server}, which leads to ${other}, another address of this machine (a virtual one?): Straddle listens at ${formatHostPort(node)}` +
          ' only, and nobody would listen there.',
      );
    } else
      ok(
        `${path} uses ${server}, which must lead to ${formatHostPort(node)} (a load balancer, not a virtual address of these machines).`,
      );
  }
}

/** The control-plane endpoint of the operator's kubeconfig, if it is neither Straddle's address nor on this machine only. */
export function endpointBefore(files: HostFiles, node: HostPort): HostPort | undefined {
  const server = serverOf(files, ADMIN_KUBECONFIG);
  const endpoint = server === undefined ? undefined : hostPortOf(new URL(server));
  if (!endpoint || isLoopback(endpoint.host)) return undefined;
  return isSameAddress(endpoint.host, node.host) && endpoint.port === node.port ? undefined : endpoint;
}

function serverOf(files: HostFiles, path: string): string | undefined {
  try {
    const text = files.readLinked(path);
    return text === undefined ? undefined : parseKubeconfig(text, { path }).server;
  } catch {
    return undefined;
  }
}

/** Asks the running kube-apiserver, as Straddle will, whether it believes the front-proxy certificate and grants the rights. */
export async function checkServer(ask: (target: string) => Promise<ServerAnswer>): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const ready = await ask('/readyz');
  const running = findingsOf('kube-apiserver', findings);
  if (ready.kind !== 'answer' || ready.status !== 200) {
    running.fail(`The kube-apiserver is not ready before anything is changed: ${answerText(ready)}.`);
    return findings;
  }
  running.ok('The kube-apiserver is ready, and believes the front-proxy certificate.');
  const { ok, fail } = findingsOf('rights', findings);
  const answers = await Promise.all(RIGHTS.map(ask));
  const refused = answers.find((answer) => answer.kind !== 'answer' || answer.status !== 200);
  if (!refused) ok('The user system:straddle may read leases and EndpointSlices.');
  else {
    const why = refused.kind === 'answer' && refused.status === 403 ? 'forbidden' : answerText(refused);
    fail(
      `The user system:straddle lacks its rights (${why}): straddle rbac | kubectl --kubeconfig=/etc/kubernetes/admin.conf apply -f -`,
    );
  }
  return findings;
}
