import { resourceName } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import { apiVersionOf, type ResourceKind } from '../../kube/resource-kind.js';

/** The resource that only the newer version serves, and a template for its objects. */
export interface Skew {
  readonly kind: ResourceKind;
  /** `podgroups.v1alpha2.scheduling.k8s.io` */
  readonly name: string;
  /** A valid object without its metadata. */
  readonly template: JsonObject;
}

export interface SkewQuestion {
  readonly from: string;
  readonly to: string;
  /** Resources of each version. */
  readonly older: readonly ResourceKind[];
  readonly newer: readonly ResourceKind[];
  /** Objects of the user. One of a kind that only the newer version serves is used as a template. */
  readonly manifests: readonly JsonObject[];
  /** The resource that the user chose. */
  readonly wanted?: string | undefined;
}

const NEEDED_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** Small valid objects of built-in kinds that were added in a version, in order of preference. */
const TEMPLATES: readonly { readonly name: string; readonly template: JsonObject }[] = [
  {
    name: 'podgroups.v1alpha2.scheduling.k8s.io',
    template: { spec: { schedulingPolicy: { gang: { minCount: 2 } } } },
  },
  {
    name: 'workloads.v1alpha2.scheduling.k8s.io',
    template: { spec: { podGroupTemplates: [{ name: 'a', schedulingPolicy: { gang: { minCount: 2 } } }] } },
  },
  {
    name: 'workloads.v1alpha1.scheduling.k8s.io',
    template: { spec: { podGroups: [{ name: 'a', policy: { gang: { minCount: 2 } } }] } },
  },
];

/** Throws with a message for the user if the versions do not differ, or if no object can be made. */
export function findSkew(question: SkewQuestion): Skew {
  const { from, to, older, newer, manifests, wanted } = question;
  const known = new Set(older.map(({ key }) => key));
  const added = newer.filter(({ key }) => !known.has(key));
  const usable = added.filter(({ namespaced, verbs }) => namespaced && NEEDED_VERBS.every((each) => verbs.has(each)));
  const found = usable.flatMap((kind) => {
    const template = templateOf(kind, manifests);
    return template ? [{ kind, name: resourceName(kind), template }] : [];
  });
  const order = TEMPLATES.map(({ name }) => name);
  // Templates of the user come first (index -1).
  found.sort((left, right) => order.indexOf(left.name) - order.indexOf(right.name));
  const chosen = wanted === undefined ? found[0] : found.find(({ name }) => name === wanted);
  if (chosen) return chosen;
  const names = usable.map(resourceName).join(', ');
  if (wanted !== undefined)
    throw new Error(
      usable.some((each) => resourceName(each) === wanted)
        ? `No object of ${wanted} is known: put one into --manifests.`
        : `${wanted} is no namespaced resource that ${to} serves and ${from} does not; ${names === '' ? 'there is none' : `these are: ${names}`}.`,
    );
  throw new Error(
    names === ''
      ? `The servers of ${to} serve no namespaced resource that those of ${from} lack, so there is nothing to rehearse: turn one on with --runtime-config, such as scheduling.k8s.io/v1alpha2=true for 1.36.`
      : `${to} serves ${names}, which ${from} lacks, but no object of these is known: put one into --manifests.`,
  );
}

function templateOf(kind: ResourceKind, manifests: readonly JsonObject[]): JsonObject | undefined {
  const manifest = manifests.find((each) => each['apiVersion'] === apiVersionOf(kind) && each['kind'] === kind.kind);
  if (!manifest) return TEMPLATES.find(({ name }) => name === resourceName(kind))?.template;
  const { metadata: _, status: __, ...rest } = manifest;
  return rest;
}

/** Returns a whole object of the skewed kind. */
export function skewedObject({ kind, template }: Skew, metadata: JsonObject): JsonObject {
  return { ...template, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
}
