import { type JsonObject, jsonEqual, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { ResourceType } from '../registry/resource-type.js';
import { type CustomResourceDependencies, customResourceTypes } from './custom-resource-types.js';
import { isConditionTrue, readDefinition, textIn } from './definition.js';

export const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

export interface DefinitionWatchOptions extends CustomResourceDependencies {
  readonly objects: ObjectReader;
  readonly nowMs: () => number;
  /** Called once for each change of a definition that cannot be served. */
  readonly onDefect?: (name: string, error: Error) => void;
}

/** Time in which the discovery of other servers may still show a deleted definition. */
const GONE_FOR_MS = 60_000;

/** The types of the current definitions, made at the next read after a change. */
export class DefinitionWatch {
  readonly #options: DefinitionWatchOptions;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  #served = new Map<string, Served>();
  /** Times at which definitions were deleted, oldest first, for `GONE_FOR_MS`. */
  readonly #goneAtMs = new Map<string, number>();
  #types: readonly ResourceType[] = [];
  #isStale = true;

  constructor(options: DefinitionWatchOptions) {
    this.#options = options;
    this.#stop = options.objects.onChange(DEFINITIONS, () => this.#changed());
  }

  /** Returns the same array, and the same types, until a definition changes them. */
  types(): readonly ResourceType[] {
    if (this.#isStale) this.#refresh();
    return this.#types;
  }

  /** Returns the schema of one of `types()`, for documents; undefined if its definition has none. */
  openApiSchema({ group, version, resource }: ResourceType): JsonObject | undefined {
    if (this.#isStale) this.#refresh();
    const served = this.#served.get(`${resource}.${group}`);
    return served === undefined ? undefined : openApiSchemaOf(served.crd, version);
  }

  /** Returns whether a definition of this name is served, or was within `GONE_FOR_MS`. */
  isOrWasServed(name: string): boolean {
    if (this.#isStale) this.#refresh();
    const goneAtMs = this.#goneAtMs.get(name);
    return this.#served.has(name) || (goneAtMs !== undefined && this.#options.nowMs() - goneAtMs < GONE_FOR_MS);
  }

  /** Calls back after definitions changed, whether or not `types()` changes. */
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
      const name = nameOf(crd);
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

/**
 * Returns the published schema of a version: that of its definition with the selectable fields. Members
 * of all custom resources, such as `metadata`, are added by the documents.
 */
export function openApiSchemaOf(crd: JsonObject, version: string): JsonObject | undefined {
  const found = readDefinition(crd).versions.find(({ name }) => name === version);
  if (found?.openApi === undefined) return undefined;
  const paths = found.selectablePaths.map((path) => ({ fieldPath: path.replace(/^\./, '') }));
  return paths.length === 0 ? found.openApi : { ...found.openApi, 'x-kubernetes-selectable-fields': paths };
}

/** Compares everything that types are made from. A definition that was deleted and created again differs. */
function isServedAlike(left: JsonObject, right: JsonObject): boolean {
  const uidOf = (crd: JsonObject): string => textIn(metadataOf(crd), 'uid');
  const [before, after] = [objectMember(left, 'status'), objectMember(right, 'status')];
  return (
    uidOf(left) === uidOf(right) &&
    isConditionTrue(left, 'Terminating') === isConditionTrue(right, 'Terminating') &&
    jsonEqual(before['acceptedNames'], after['acceptedNames']) &&
    jsonEqual(before['storedVersions'], after['storedVersions']) &&
    jsonEqual(left['spec'], right['spec'])
  );
}
