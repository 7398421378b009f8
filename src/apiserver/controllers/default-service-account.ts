import { OncePerSubject } from '../../base/once-per-subject.js';
import { ApiRefusal, isSuccess } from '../../kube/client/api-client.js';
import { text } from '../../kube/fields.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { isDefinitelyAbsent, readFound } from './answers.js';
import { CollectionWatch } from './collection-watch.js';
import type { Controller, ControllerOptions } from './controller.js';
import { LeadershipLost } from './fenced-client.js';
import { WorkQueue } from './work-queue.js';

export interface DefaultServiceAccountOptions extends ControllerOptions {
  /** PEM of the certificate authority of the API servers; undefined: no ConfigMap is published. */
  readonly rootCaPem: string | undefined;
}

const ACCOUNT = 'default';
const ROOT_CA = 'kube-root-ca.crt';
const ROOT_CA_KEY = 'ca.crt';
/** Marks objects that this controller made. Others are never changed. */
const STRADDLE_ANNOTATION = 'straddle.dev/published-by';
const QUEUE = {
  concurrencyMax: 4,
  keysMax: 50_000,
  perSecondMax: 100,
  burstMax: 200,
  backOff: { firstMs: 250, maxMs: 30_000 },
} as const;

interface NamedObject {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Creates the default ServiceAccount and the root CA ConfigMap of every namespace if they are
 * missing. Works beside a kube-controller-manager that does the same: its objects stay as they are.
 */
export class DefaultServiceAccounts implements Controller {
  readonly #options: DefaultServiceAccountOptions;
  readonly #queue: WorkQueue;
  readonly #watches: readonly CollectionWatch<NamedObject>[];
  readonly #active = new Set<string>();
  readonly #complaints = new OncePerSubject();

  constructor(options: DefaultServiceAccountOptions) {
    const logger = options.logger.with({ controller: 'serviceaccount' });
    this.#options = { ...options, logger };
    this.#queue = new WorkQueue({
      ...QUEUE,
      clock: options.clock,
      work: (namespace) => this.#provide(namespace),
      onFailure: (namespace, error, failures) => {
        if (failures === 1 && !(error instanceof LeadershipLost))
          logger.info('a namespace waits for its service account', { namespace, why: error.message });
      },
      onRoom: () => this.#addAll(),
    });
    this.#watches = [
      this.#watchNamespaces(),
      this.#watchNamed('/api/v1/serviceaccounts', ACCOUNT),
      ...(options.rootCaPem === undefined ? [] : [this.#watchNamed('/api/v1/configmaps', ROOT_CA)]),
    ];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watches.map((each) => each.close()), this.#queue.close()]);
  }

  #addAll(): void {
    for (const name of this.#active) this.#queue.add(name);
  }

  #watchNamespaces(): CollectionWatch<NamedObject> {
    const { client, clock } = this.#options;
    return new CollectionWatch({
      client,
      clock,
      path: '/api/v1/namespaces',
      keep: (object) => {
        const metadata = metadataOf(object);
        const isActive = metadata['deletionTimestamp'] === undefined;
        return { name: isActive ? text(metadata, 'name') : '', namespace: text(metadata, 'name') };
      },
      onSnapshot: (items) => {
        this.#active.clear();
        for (const { name } of items) if (name !== '') this.#active.add(name);
        this.#addAll();
      },
      onEvent: (type, { name, namespace }) => {
        if (type === 'DELETED' || name === '') {
          this.#active.delete(namespace);
        } else if (!this.#active.has(name)) {
          this.#active.add(name);
          this.#queue.add(name);
        }
      },
      onError: (error) => this.#complain('namespaces', error),
    });
  }

  /** Watches objects of one name, so that deleted ones are created again. */
  #watchNamed(path: string, name: string): CollectionWatch<NamedObject> {
    const { client, clock } = this.#options;
    return new CollectionWatch({
      client,
      clock,
      path,
      fieldSelector: `metadata.name=${name}`,
      keep: (object) => ({ name, namespace: text(metadataOf(object), 'namespace') }),
      onSnapshot: (items) => {
        const present = new Set(items.map(({ namespace }) => namespace));
        for (const each of this.#active) if (!present.has(each)) this.#queue.add(each);
      },
      onEvent: (type, { namespace }) => {
        if (type !== 'ADDED' && this.#active.has(namespace)) this.#queue.add(namespace);
      },
      onError: (error) => this.#complain(path, error),
    });
  }

  #complain(what: string, error: Error): void {
    if (this.#complaints.isNew(what)) this.#options.logger.info('cannot be watched; trying again', { what, error });
  }

  async #provide(namespace: string): Promise<undefined> {
    if (!this.#active.has(namespace)) return;
    const { rootCaPem } = this.#options;
    const place = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
    await this.#ensure(`${place}/serviceaccounts`, {
      kind: 'ServiceAccount',
      apiVersion: 'v1',
      metadata: { name: ACCOUNT, namespace },
    });
    if (rootCaPem === undefined) return;
    const found = await this.#ensure(`${place}/configmaps`, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: ROOT_CA, namespace, annotations: { [STRADDLE_ANNOTATION]: 'straddle', ...DESCRIPTION } },
      data: { [ROOT_CA_KEY]: rootCaPem },
    });
    if (found) await this.#update(`${place}/configmaps/${ROOT_CA}`, found, rootCaPem);
  }

  /** Creates an object if it is missing. Returns the present one. */
  async #ensure(collection: string, wanted: JsonObject): Promise<JsonObject | undefined> {
    const { client, logger } = this.#options;
    const name = text(metadataOf(wanted), 'name');
    const found = readFound(await client.request({ method: 'GET', target: `${collection}/${name}` }), name);
    if (found.kind === 'present') return found.object;
    if (found.kind === 'unknown') throw new Error(found.why);
    const answer = await client.request({ method: 'POST', target: collection, body: wanted });
    // Created by another client meanwhile, or the namespace is being deleted.
    if (answer.status === 409 || isEnding(answer.status, answer.body)) return undefined;
    if (!isSuccess(answer)) throw new ApiRefusal(`create ${collection}/${name}`, answer);
    logger.debug('made for a namespace', { object: `${collection}/${name}` });
    return undefined;
  }

  /** Updates a ConfigMap of this controller after a change of the certificate authority. */
  async #update(target: string, found: JsonObject, rootCaPem: string): Promise<void> {
    const annotations = metadataOf(found)['annotations'];
    const data = isObject(found['data']) ? found['data'] : {};
    if (!isObject(annotations) || annotations[STRADDLE_ANNOTATION] === undefined || data[ROOT_CA_KEY] === rootCaPem)
      return;
    const body = { ...found, data: { ...data, [ROOT_CA_KEY]: rootCaPem } };
    const answer = await this.#options.client.request({ method: 'PUT', target, body });
    if (!isSuccess(answer) && answer.status !== 409 && !isDefinitelyAbsent(answer, ROOT_CA))
      throw new ApiRefusal(`update ${target}`, answer);
  }
}

const DESCRIPTION = {
  'kubernetes.io/description':
    'The authority that the certificates of the API servers are from, for use inside the cluster only.',
};

/** Returns whether a creation was refused because the namespace ends or does not exist. */
function isEnding(status: number, body: JsonObject): boolean {
  if (status === 404) return body['reason'] === 'NotFound';
  return status === 403 && JSON.stringify(body['details'] ?? {}).includes('NamespaceTerminating');
}
