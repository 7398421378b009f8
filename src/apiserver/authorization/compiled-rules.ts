import type { Attributes, ResourceAttributes } from './authorizer.js';
import type { PolicyRule } from './policy-rule.js';

/** A rule for one of its resources. Undefined means `*`, or every name. */
interface ResourceRule {
  readonly verbs: ReadonlySet<string> | undefined;
  readonly apiGroups: ReadonlySet<string> | undefined;
  readonly names: ReadonlySet<string> | undefined;
}

interface PathRule {
  readonly verbs: ReadonlySet<string> | undefined;
  readonly prefix: string;
}

/**
 * The rules of one role, indexed by resource and path. Kubernetes matches a rule's resource
 * exactly, by `*` or, for a subresource, by `*` in place of the resource; `pods/*` is not a
 * pattern.
 */
export class CompiledRules {
  readonly #byResource = new Map<string, ResourceRule[]>();
  readonly #byPath = new Map<string, (ReadonlySet<string> | undefined)[]>();
  readonly #byPathPrefix: PathRule[] = [];

  constructor(rules: readonly PolicyRule[]) {
    for (const rule of rules) {
      const verbs = setOrAll(rule.verbs);
      this.#addResources(rule, verbs);
      this.#addPaths(rule, verbs);
    }
  }

  allows(attributes: Attributes): boolean {
    if ('path' in attributes) return this.#allowsPath(attributes.verb, attributes.path);
    const { resource, subresource } = attributes;
    if (this.#allowsResource('*', attributes)) return true;
    if (subresource === '') return this.#allowsResource(resource, attributes);
    return (
      this.#allowsResource(`${resource}/${subresource}`, attributes) ||
      this.#allowsResource(`*/${subresource}`, attributes)
    );
  }

  #addResources(rule: PolicyRule, verbs: ReadonlySet<string> | undefined): void {
    const names = rule.resourceNames.length > 0 ? new Set(rule.resourceNames) : undefined;
    const compiled = { verbs, apiGroups: setOrAll(rule.apiGroups), names };
    for (const resource of rule.resources) append(this.#byResource, resource, compiled);
  }

  #addPaths(rule: PolicyRule, verbs: ReadonlySet<string> | undefined): void {
    for (const url of rule.nonResourceURLs) {
      append(this.#byPath, url, verbs);
      if (url.endsWith('*')) this.#byPathPrefix.push({ verbs, prefix: url.replace(/\*+$/, '') });
    }
  }

  #allowsResource(key: string, { verb, group, name }: ResourceAttributes): boolean {
    const rules = this.#byResource.get(key);
    if (!rules) return false;
    return rules.some(
      (rule) =>
        (rule.verbs === undefined || rule.verbs.has(verb)) &&
        (rule.apiGroups === undefined || rule.apiGroups.has(group)) &&
        (rule.names === undefined || rule.names.has(name)),
    );
  }

  #allowsPath(verb: string, path: string): boolean {
    const exact = this.#byPath.get(path);
    if (exact?.some((verbs) => verbs === undefined || verbs.has(verb))) return true;
    return this.#byPathPrefix.some(
      ({ verbs, prefix }) => (verbs === undefined || verbs.has(verb)) && path.startsWith(prefix),
    );
  }
}

function setOrAll(values: readonly string[]): ReadonlySet<string> | undefined {
  return values.includes('*') ? undefined : new Set(values);
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
