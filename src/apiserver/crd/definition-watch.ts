import { type JsonObject, jsonEqual } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { ResourceType } from '../registry/resource-type.js';
import { type CustomResourceDependencies, customResourceTypes } from './custom-resource-types.js';
import { isConditionTrue, objectIn, textIn } from './definition.js';
import { openApiSchemaOf } from './published-schema.js';

export const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

export interface DefinitionWatchOptions extends CustomResourceDependencies {
  readonly objects: ObjectReader;
  readonly nowMs: () => number;
  /** Told once of a definition that cannot be served, of each version of it. */
  readonly onDefect?: (name: string, error: Error) => void;
}

/** How long other servers may still serve, by their discovery, a definition that is gone from the store. */
const GONE_FOR_MS = 60_000;

/** The types that definitions make, as they are now. Made when asked for, not at every change. */
export class DefinitionWatch {
  readonly #options: DefinitionWatchOptions;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  #served = new Map<string, Served>();
  /** When definitions were gone, oldest first, for `GONE_FOR_MS`. */
  readonly #goneAtMs = new Map<string, number>();
  #types: readonly ResourceType[] = [];
  #isStale = true;

  constructor(options: DefinitionWatchOptions) {
    this.#options = options;
    this.#stop = options.objects.onChange(DEFINITIONS, () => this.#changed());
  }

  /** The same array until a definition changes what is served; types of definitions that did not change stay the same. */
  types(): readonly ResourceType[] {
    if (this.#isStale) this.#refresh();
    return this.#types;
  }

  /** The schema of one of `types()`, for documents; undefined where its definition has none. */
  openApiSchema({ group, version, resource }: ResourceType): JsonObject | undefined {
    if (this.#isStale) this.#refresh();
    const served = this.#served.get(`${resource}.${group}`);
    return served === undefined ? undefined : openApiSchemaOf(served.crd, version);
  }

  /** Whether a definition of this name is served, or was until a moment ago. */
  isOrWasServed(name: string): boolean {
    if (this.#isStale) this.#refresh();
    const goneAtMs = this.#goneAtMs.get(name);
    return this.#served.has(name) || (goneAtMs !== undefined && this.#options.nowMs() - goneAtMs < GONE_FOR_MS);
  }

  /** Calls back after definitions changed; `types()` may or may not be another then. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #changed(): void {
    this.#isStale = true;
    for (const listener of this.#listeners) listener();
  }

  #refresh(): void {
    this.#isStale = false;
    const served = new Map<string, Served>();
    for (const crd of this.#options.objects.list(DEFINITIONS)) {
      if (!isConditionTrue(crd, 'Established')) continue;
      const name = textIn(objectIn(crd, 'metadata') ?? {}, 'name');
      served.set(name, this.#servedBy(crd, this.#served.get(name), name));
    }
    const types = [...served.values()].flatMap((each) => each.types);
    this.#rememberGone(served);
    this.#served = served;
    const isSame = types.length === this.#types.length && types.every((each, index) => each === this.#types[index]);
    if (!isSame) this.#types = types;
  }

  #rememberGone(served: ReadonlyMap<string, Served>): void {
    const nowMs = this.#options.nowMs();
    for (const [name, goneAtMs] of this.#goneAtMs) {
      if (nowMs - goneAtMs >= GONE_FOR_MS) this.#goneAtMs.delete(name);
    }
    for (const name of this.#served.keys()) {
      if (served.has(name)) continue;
      this.#goneAtMs.delete(name);
      this.#goneAtMs.set(name, nowMs);
    }
  }

  #servedBy(crd: JsonObject, known: Served | undefined, name: string): Served {
    if (known?.crd === crd) return known;
    if (known !== undefined && isServedAlike(known.crd, crd)) return { crd, types: known.types };
    try {
      return { crd, types: customResourceTypes(crd, this.#options) };
    } catch (error) {
      this.#options.onDefect?.(name, error as Error);
      return { crd, types: [] };
    }
  }
}

interface Served {
  readonly crd: JsonObject;
  readonly types: readonly ResourceType[];
}

/** Everything that types are made from. A definition that was deleted and made again is another one. */
function isServedAlike(left: JsonObject, right: JsonObject): boolean {
  const uidOf = (crd: JsonObject): string => textIn(objectIn(crd, 'metadata') ?? {}, 'uid');
  const [before, after] = [objectIn(left, 'status') ?? {}, objectIn(right, 'status') ?? {}];
  return (
    uidOf(left) === uidOf(right) &&
    isConditionTrue(left, 'Terminating') === isConditionTrue(right, 'Terminating') &&
    jsonEqual(before['acceptedNames'], after['acceptedNames']) &&
    jsonEqual(before['storedVersions'], after['storedVersions']) &&
    jsonEqual(left['spec'], right['spec'])
  );
}
