import { ApiException, CoreV1Api, CustomObjectsApi, type KubeConfig } from '@kubernetes/client-node';

/** Result of one reconciliation. */
export type Outcome = 'mirrored' | 'removed' | 'tries again';

/** Decides whether an error means that the requested object is gone. */
export type IsGone = (error: unknown, name: string) => boolean;

/**
 * The mistake: any 404 counts. In the middle of an upgrade the whole API may be missing, because the
 * load balancer has picked a server that does not serve it yet.
 */
export const anyNotFound: IsGone = (error) => error instanceof ApiException && error.code === 404;

/** The remedy: an object is gone if the 404 names it. A 404 for an unknown API has no details. */
export const namedNotFound: IsGone = (error, name) => {
  if (!(error instanceof ApiException) || error.code !== 404) return false;
  const status = parsed(error.body) as { reason?: string; details?: { name?: string; kind?: string } } | undefined;
  return status?.reason === 'NotFound' && status.details?.name === name && status.details.kind === 'podgroups';
};

/** Keeps a ConfigMap for each PodGroup, and removes it when the PodGroup is gone. */
export class PodGroupMirror {
  readonly #groups: CustomObjectsApi;
  readonly #core: CoreV1Api;
  readonly #isGone: IsGone;

  constructor(kubeConfig: KubeConfig, isGone: IsGone) {
    this.#groups = kubeConfig.makeApiClient(CustomObjectsApi);
    this.#core = kubeConfig.makeApiClient(CoreV1Api);
    this.#isGone = isGone;
  }

  /** Called again and again for each PodGroup, as controllers are. */
  async reconcile(namespace: string, name: string): Promise<Outcome> {
    const group = { group: 'scheduling.k8s.io', version: 'v1alpha2', plural: 'podgroups' };
    let found: { spec?: unknown };
    try {
      found = (await this.#groups.getNamespacedCustomObject({ ...group, namespace, name })) as { spec?: unknown };
    } catch (error) {
      if (!this.#isGone(error, name)) return 'tries again';
      await this.#core.deleteNamespacedConfigMap({ namespace, name }).catch(unless(404));
      return 'removed';
    }
    const body = { metadata: { name }, data: { spec: JSON.stringify(found.spec) } };
    await this.#core.createNamespacedConfigMap({ namespace, body }).catch(unless(409));
    return 'mirrored';
  }
}

function unless(code: number): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiException) || error.code !== code) throw error;
  };
}

function parsed(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
