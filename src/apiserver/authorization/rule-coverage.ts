import type { PolicyRule } from './policy-rule.js';

/** A rule with one verb on one resource (perhaps one name of it) or on one path. */
interface Atom extends PolicyRule {
  readonly verb: string;
}

/** Returns the parts of `wanted` (one verb, one resource or path) that `held` does not allow. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const owners = held.map(ownerOf);
  const uncovered: PolicyRule[] = [];
  for (const rule of wanted) {
    for (const { verb, ...atom } of atomsOf(rule)) {
      if (!owners.some((owner) => covers(owner, verb, atom))) uncovered.push(atom);
    }
  }
  return uncovered;
}

/** Returns the number of parts of rules. Lists multiply: a small role can have very many. */
export function partCount(rules: readonly PolicyRule[]): number {
  return rules.reduce((sum, { apiGroups, resources, verbs, resourceNames, nonResourceURLs }) => {
    const objects = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
    return sum + verbs.length * (objects + nonResourceURLs.length);
  }, 0);
}

/** Joins rules that differ only in their verb; rules about paths stay separate. */
export function joinVerbs(rules: readonly PolicyRule[]): PolicyRule[] {
  const paths: PolicyRule[] = [];
  const joined = new Map<string, PolicyRule & { verbs: string[] }>();
  for (const rule of rules) {
    if (rule.nonResourceURLs.length > 0) {
      paths.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const known = joined.get(key);
    if (known) known.verbs.push(...rule.verbs);
    else joined.set(key, { ...rule, verbs: [...rule.verbs] });
  }
  return [...paths, ...joined.values()];
}

function* atomsOf(rule: PolicyRule): Generator<Atom> {
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      for (const verb of rule.verbs) {
        const atom = { verb, verbs: [verb], apiGroups: [group], resources: [resource], nonResourceURLs: [] };
        if (rule.resourceNames.length === 0) yield { ...atom, resourceNames: [] };
        for (const name of rule.resourceNames) yield { ...atom, resourceNames: [name] };
      }
    }
  }
  for (const url of rule.nonResourceURLs) {
    for (const verb of rule.verbs) {
      yield { verb, verbs: [verb], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [url] };
    }
  }
}

interface Owner {
  readonly verbs: ReadonlySet<string>;
  readonly apiGroups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly resourceNames: ReadonlySet<string>;
  readonly nonResourceURLs: readonly string[];
}

function ownerOf(rule: PolicyRule): Owner {
  return {
    verbs: new Set(rule.verbs),
    apiGroups: new Set(rule.apiGroups),
    resources: new Set(rule.resources),
    resourceNames: new Set(rule.resourceNames),
    nonResourceURLs: rule.nonResourceURLs,
  };
}

function covers(owner: Owner, verb: string, atom: PolicyRule): boolean {
  if (!owner.verbs.has('*') && !owner.verbs.has(verb)) return false;
  const url = atom.nonResourceURLs[0];
  // A rule about paths has no names, so an owner that is limited to names does not cover it.
  const name = atom.resourceNames[0];
  if (owner.resourceNames.size > 0 && (name === undefined || !owner.resourceNames.has(name))) return false;
  if (url !== undefined) return owner.nonResourceURLs.some((pattern) => urlCovers(pattern, url));
  if (!owner.apiGroups.has('*') && !owner.apiGroups.has(atom.apiGroups[0]!)) return false;
  return resourceCovers(owner.resources, atom.resources[0]!);
}

function resourceCovers(resources: ReadonlySet<string>, wanted: string): boolean {
  if (resources.has('*') || resources.has(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && resources.has(`*${wanted.slice(slash)}`);
}

/** A pattern that ends in `*` covers all paths with the prefix before it. */
function urlCovers(pattern: string, path: string): boolean {
  if (pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''));
}
