import { gvrKey } from '../../kube/gvr.js';
import type { ResourceType } from './resource-type.js';
import type { VirtualResource } from './served-resources.js';

/** The types that this server serves: the built-in ones, and those of the current CustomResourceDefinitions. */
export class TypeRegistry {
  readonly #builtIn: readonly ResourceType[];
  readonly virtual: readonly VirtualResource[];
  readonly builtInGroups: ReadonlySet<string>;
  readonly #virtualByKey: ReadonlyMap<string, VirtualResource>;
  readonly #listeners = new Set<() => void>();
  #types: readonly ResourceType[];
  #byKey: ReadonlyMap<string, ResourceType>;

  constructor(builtIn: readonly ResourceType[], virtual: readonly VirtualResource[]) {
    this.#builtIn = builtIn;
    this.virtual = virtual;
    this.builtInGroups = new Set([...builtIn, ...virtual].map(({ group }) => group));
    this.#virtualByKey = new Map(virtual.map((each) => [gvrKey(each.group, each.version, each.resource), each]));
    this.#types = builtIn;
    this.#byKey = indexed(builtIn);
  }

  /** The same array until a change. */
  get types(): readonly ResourceType[] {
    return this.#types;
  }

  find(group: string, version: string, resource: string): ResourceType | undefined {
    return this.#byKey.get(gvrKey(group, version, resource));
  }

  findVirtual(group: string, version: string, resource: string): VirtualResource | undefined {
    return this.#virtualByKey.get(gvrKey(group, version, resource));
  }

  /** Returns the served versions of a resource. */
  versionsOf(group: string, resource: string): readonly ResourceType[] {
    return this.#types.filter((each) => each.group === group && each.resource === resource);
  }

  /** Replaces the types of definitions. A built-in type is never replaced. */
  setCustom(custom: readonly ResourceType[]): void {
    const builtIn = indexed(this.#builtIn);
    const added = custom.filter((each) => !builtIn.has(gvrKey(each.group, each.version, each.resource)));
    this.#types = [...this.#builtIn, ...added];
    this.#byKey = indexed(this.#types);
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function indexed(types: readonly ResourceType[]): ReadonlyMap<string, ResourceType> {
  return new Map(types.map((each) => [gvrKey(each.group, each.version, each.resource), each]));
}
