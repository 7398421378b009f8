import { resourceName } from '../../kube/gvr.js';
import type { Surface } from '../../kube/surface.js';
import type { ServerFacts } from './server-facts.js';

/** The one server with something; null: several have it. */
type Only = string | null;

interface Leaf {
  only: Only;
  readonly verbs: Map<string, Only>;
}

interface Leaves {
  readonly own: Leaf;
  readonly subresources: Map<string, Leaf>;
}

/**
 * Returns, by server that answers, the resources, subresources and verbs that it alone serves, of all of them: the matrix on the
 * page has a bound. Yields after each server.
 */
export function* soleResources(servers: readonly ServerFacts[]): Generator<void, Map<string, string[]>> {
  const all = new Map<string, Leaves>();
  for (const { name, state, surface } of servers) {
    if (state !== 'ready' || !surface) continue;
    note(name, surface, all);
    yield;
  }
  const soleAt = new Map<string, string[]>();
  for (const [key, { own, subresources }] of all) {
    const [group = '', version = '', resource = ''] = key.split('/');
    const name = resourceName({ group, version, resource });
    addSole(name, own, soleAt);
    for (const [subresource, leaf] of subresources) addSole(`${name}/${subresource}`, leaf, soleAt);
  }
  for (const names of soleAt.values()) names.sort();
  return soleAt;
}

function note(server: string, { resources }: Surface, all: Map<string, Leaves>): void {
  for (const [key, { verbs, subresources }] of resources) {
    let leaves = all.get(key);
    if (!leaves) {
      leaves = { own: { only: '', verbs: new Map() }, subresources: new Map() };
      all.set(key, leaves);
    }
    if (verbs.size > 0) noteLeaf(server, verbs, leaves.own);
    for (const [name, subresourceVerbs] of subresources) {
      const leaf = leaves.subresources.get(name) ?? { only: '', verbs: new Map<string, Only>() };
      leaves.subresources.set(name, leaf);
      noteLeaf(server, subresourceVerbs, leaf);
    }
  }
}

function noteLeaf(server: string, verbs: ReadonlySet<string>, leaf: Leaf): void {
  leaf.only = leaf.only === '' ? server : null;
  for (const verb of verbs) leaf.verbs.set(verb, leaf.verbs.has(verb) ? null : server);
}

function addSole(name: string, { only, verbs }: Leaf, soleAt: Map<string, string[]>): void {
  const add = (server: string, text: string): void => {
    const names = soleAt.get(server) ?? [];
    names.push(text);
    soleAt.set(server, names);
  };
  if (only === '') return;
  if (only !== null) {
    add(only, name);
    return;
  }
  const alone = new Map<string, string[]>();
  for (const [verb, server] of verbs) if (server !== null) alone.set(server, [...(alone.get(server) ?? []), verb]);
  for (const [server, some] of alone) add(server, `${name} (${some.sort().join(', ')})`);
}
