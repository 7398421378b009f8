import type { Clock } from '../../../base/clock.js';
import type { Logger } from '../../../base/logger.js';
import { OncePerSubject } from '../../../base/once-per-subject.js';
import { Turnstile } from '../../../base/turnstile.js';
import type { ApiClient } from '../../../kube/client/api-client.js';
import { pathOf } from '../../../kube/resource-kind.js';
import { CollectionWatch } from '../collection-watch.js';
import type { ApiResource, Catalogue } from '../resource-catalogue.js';
import type { GoneObjects } from './gone-objects.js';
import type { ObjectGraph } from './object-graph.js';
import { type ObservedObject, observed } from './owner-reference.js';

interface ResourceMonitorsOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly graph: ObjectGraph;
  readonly gone: GoneObjects;
  /** Called for a known object that is missing in a new list: probably deleted. */
  readonly onMissed: (uid: string) => void;
}

interface Monitor {
  readonly resource: ApiResource;
  readonly watch: CollectionWatch<ObservedObject>;
}

/** Bound on concurrent lists: at the start there is one for every resource. */
const LISTS_MAX = 6;

/** Watches the metadata of every deletable object of the control plane. */
export class ResourceMonitors {
  readonly #options: ResourceMonitorsOptions;
  readonly #monitors = new Map<string, Monitor>();
  readonly #lists = new Turnstile(LISTS_MAX);
  readonly #complaints = new OncePerSubject();
  #catalogue: Catalogue | undefined;

  constructor(options: ResourceMonitorsOptions) {
    this.#options = options;
  }

  /** Follows discovery: watches new resources, drops those that are certainly gone. */
  async follow(catalogue: Catalogue): Promise<void> {
    if (catalogue === this.#catalogue) return;
    this.#catalogue = catalogue;
    const wanted = new Map(catalogue.preferred.filter(isCollectable).map((each) => [each.key, each]));
    const dropped = [...this.#monitors.values()].filter(
      ({ resource }) => !wanted.has(resource.key) && (catalogue.isComplete || isServedOtherwise(wanted, resource)),
    );
    await Promise.all(dropped.map((each) => this.#drop(each)));
    for (const resource of wanted.values()) {
      if (resource.isCurrent && !this.#monitors.has(resource.key)) this.#add(resource);
    }
  }

  /** Called when discovery could not be read: the graph counts as incomplete until it can. */
  doubt(): void {
    this.#catalogue = undefined;
  }

  /** Returns why the graph may lack objects; undefined if it is complete. */
  whyIncomplete(): string | undefined {
    const catalogue = this.#catalogue;
    if (!catalogue) return 'discovery has not been read';
    if (!catalogue.isComplete) return catalogue.gaps[0];
    for (const resource of catalogue.preferred) {
      if (isCollectable(resource) && !this.#monitors.get(resource.key)?.watch.isLive)
        return `${resource.key} is not being watched`;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#monitors.values()].map(({ watch }) => watch.close()));
    this.#monitors.clear();
  }

  #add(resource: ApiResource): void {
    const { client, clock, logger, graph, gone, onMissed } = this.#options;
    const watch = new CollectionWatch<ObservedObject>({
      client,
      clock,
      path: pathOf(resource, ''),
      enterList: () => this.#lists.enter(),
      keep: (object) => observed(object, resource),
      onSnapshot: (items) => {
        const uids = new Set(items.map(({ uid }) => uid));
        const missed = [...graph.seenIn(resource.key)].filter(({ uid }) => !uids.has(uid));
        for (const each of items) graph.observe(each);
        for (const { uid } of missed) onMissed(uid);
      },
      onEvent: (type, object) => {
        if (type !== 'DELETED') return graph.observe(object);
        gone.add(object);
        graph.remove(object.uid);
      },
      onError: (error) => {
        if (this.#complaints.isNew(resource.key))
          logger.info('a resource cannot be watched; trying again', { resource: resource.key, error });
      },
    });
    this.#monitors.set(resource.key, { resource, watch });
  }

  async #drop({ resource, watch }: Monitor): Promise<void> {
    this.#monitors.delete(resource.key);
    await watch.close();
    this.#options.graph.unwatch(resource.key);
  }
}

/** Events have no owners and expire by themselves. */
function isCollectable({ group, resource, verbs }: ApiResource): boolean {
  if (resource === 'events' && (group === '' || group === 'events.k8s.io')) return false;
  return verbs.has('delete') && verbs.has('list') && verbs.has('watch');
}

/** Returns whether another version of the resource is watched. */
function isServedOtherwise(wanted: ReadonlyMap<string, ApiResource>, { group, resource }: ApiResource): boolean {
  for (const each of wanted.values()) {
    if (each.group === group && each.resource === resource && each.isCurrent) return true;
  }
  return false;
}
