import { ConfigError } from '../compose/config/config-error.js';
import type { KubeconfigAccess } from '../compose/config/kubeconfig.js';
import { nearest } from '../compose/config/nearest.js';
import { AGGREGATED_V2 } from '../kube/accept.js';
import { parseAggregated } from '../kube/discovery-documents.js';
import { apiPath, resourceName } from '../kube/gvr.js';
import { type ResourceKind, resourceKindsOf } from '../kube/resource-kind.js';
import { type KubeAnswer, kubeRequest } from './kube-access.js';
import type { Surroundings } from './surroundings.js';

type Files = Pick<Surroundings, 'readFile' | 'nowMs'>;

/** Reads every resource that the server of a kubeconfig serves, as it shows them to clients. */
export async function readKinds(access: KubeconfigAccess, surroundings: Files): Promise<ResourceKind[]> {
  const read = async (path: string): Promise<ResourceKind[]> => {
    const answer = await kubeRequest(access, surroundings, { method: 'GET', path, accept: AGGREGATED_V2 });
    if (answer.status !== 200) throw answered(access, `GET ${path}`, answer);
    return resourceKindsOf(parseAggregated(answer.body, `${access.server}${path}`));
  };
  return [...(await read('/api')), ...(await read('/apis'))];
}

/**
 * Finds a resource by its name as kubectl takes it: `pods`, `deployments.apps` or `deployments.v1.apps`. Throws ConfigError
 * with what is meant perhaps. One with version and group that the server does not show is returned as a path of all
 * namespaces, so that the answer of the server can be seen.
 */
export function resourceNamed(text: string, kinds: readonly ResourceKind[]): ResourceKind | { readonly path: string } {
  const found = kinds.find((kind) => namesOf(kind).includes(text));
  if (found !== undefined) return found;
  const [, resource, version, group] = /^([a-z0-9-]+)\.(v[0-9][a-z0-9]*)\.([a-z0-9.-]+)$/.exec(text) ?? [];
  if (resource !== undefined) return { path: `${apiPath(group!, version!)}/${resource}` };
  const suggestion = nearest(text, kinds.flatMap(namesOf));
  throw new ConfigError([
    `The server has no resource ${text}.${suggestion ? ` Did you mean ${suggestion}?` : ' Give it as pods, deployments.apps or deployments.v1.apps.'}`,
  ]);
}

function namesOf(kind: ResourceKind): string[] {
  const { resource, group, version } = kind;
  return group === ''
    ? [resource, `${resource}.${version}`]
    : [resource, `${resource}.${group}`, `${resource}.${version}.${group}`, resourceName(kind)];
}

/** Returns the answer of a server as an error: who said what to which request. */
export function answered({ context, server }: KubeconfigAccess, request: string, { status, body }: KubeAnswer): Error {
  const message = (body as { readonly message?: unknown } | null)?.message;
  return new Error(
    `${context} (${server}) answered ${status} to ${request}: ${typeof message === 'string' ? message : 'no reason given'}`,
  );
}
