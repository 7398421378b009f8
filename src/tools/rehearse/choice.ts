import type { JsonObject } from '../../kube/json.js';
import type { Difference } from './differences.js';
import type { DifferenceUse, Exercise } from './rehearsal-result.js';
import { templatesOf } from './templates.js';

/** What differs between the versions of a rehearsal, and what is to be tried with each difference. */
export interface Choice {
  readonly from: string;
  readonly to: string;
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  readonly difference: Difference;
  /** Objects of the resource, without metadata; the first that a server accepts is used. */
  readonly templates: readonly JsonObject[];
  /** Why it is not exercised. */
  readonly reason?: string;
}

export interface ChoiceQuestion {
  readonly from: string;
  readonly to: string;
  readonly differences: readonly Difference[];
  /** Objects of the user, which are used as templates. */
  readonly manifests: readonly JsonObject[];
  /** The name of the only difference to exercise. */
  readonly wanted?: string | undefined;
}

/** Bounds on the load of a rehearsal, for versions with everything turned on. */
const RESOURCES_MAX = 16;
const SUBRESOURCES_MAX = 16;
const RESOURCE_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch'];

/** Throws with a message for the user if the wanted resource is none that differs. */
export function choose({ from, to, differences, manifests, wanted }: ChoiceQuestion): Choice {
  if (wanted !== undefined) checkWanted(wanted, { from, to, differences });
  const taken = { resources: 0, subresources: 0 };
  const candidates = differences.map((difference): Candidate => {
    const templates = templatesOf(difference.kind, manifests);
    const reason = whyNot(difference, { from, to, wanted });
    if (reason !== undefined) return { difference, templates, reason };
    const isResource = difference.subresource === '';
    const count = isResource ? ++taken.resources : ++taken.subresources;
    if (count <= (isResource ? RESOURCES_MAX : SUBRESOURCES_MAX)) return { difference, templates };
    return { difference, templates, reason: 'too many differ to exercise them all: --resource chooses one' };
  });
  return { from, to, candidates };
}

function checkWanted(wanted: string, { from, to, differences }: Omit<ChoiceQuestion, 'manifests'>): void {
  if (differences.some(({ name, servedBy }) => name === wanted && servedBy === 'to')) return;
  const names = differences.filter(({ servedBy }) => servedBy === 'to').map(({ name }) => name);
  const others = names.length === 0 ? 'it serves nothing that the other lacks' : `these are: ${names.join(', ')}`;
  throw new Error(`--resource: ${wanted} is nothing that ${to} serves and ${from} does not; ${others}.`);
}

function whyNot(
  { name, subresource, servedBy, isPartial, verbs }: Difference,
  { from, to, wanted }: Pick<ChoiceQuestion, 'from' | 'to' | 'wanted'>,
): string | undefined {
  if (servedBy === 'from') return `only ${from} serves it, and a rehearsal exercises what ${to} adds`;
  if (wanted !== undefined && name !== wanted && !name.startsWith(`${wanted}/`)) return '--resource names another one';
  if (isPartial) return `${from} serves it too, only without these verbs`;
  const wantedVerbs = subresource === '' ? RESOURCE_VERBS : SUBRESOURCE_VERBS;
  const missing = wantedVerbs.filter((each) => !verbs.has(each));
  if (subresource !== '') return missing.length < wantedVerbs.length ? undefined : 'it can neither be read nor patched';
  return missing.length === 0 ? undefined : `its objects do not have ${missing.join(', ')}`;
}

/** Returns what is expected to be exercised, before a server has been asked. */
export function usesOf({ from, to, candidates }: Choice): DifferenceUse[] {
  return candidates.map(({ difference, reason }) => ({
    name: difference.name,
    servedBy: difference.servedBy === 'to' ? to : from,
    exercises: reason === undefined ? exercisesOf(difference) : [],
    ...(reason === undefined ? {} : { reason }),
  }));
}

export function exercisesOf({ subresource, kind }: Difference): readonly Exercise[] {
  if (subresource !== '') return ['requests'];
  return kind.namespaced ? ['requests', 'watches', 'owners', 'namespaces'] : ['requests', 'watches', 'owners'];
}

/** Returns sentences about scenes that cannot be set. */
export function notesOf({ from, to }: Pick<Choice, 'from' | 'to'>, uses: readonly DifferenceUse[]): string[] {
  const isUsedFor = (wanted: Exercise): boolean => uses.some(({ exercises }) => exercises.includes(wanted));
  const between = `between ${from} and ${to}`;
  if (!isUsedFor('owners'))
    return [`No resource whose objects can own others differs ${between}: nothing can be deleted by mistake.`];
  if (!isUsedFor('namespaces'))
    return [`No namespaced resource differs ${between}: no namespace is deleted, because none could end too early.`];
  return [];
}

/** Throws with a message for the user if the versions do not differ, or if nothing can be exercised. */
export function checkUses(
  { from, to }: Pick<Choice, 'from' | 'to'>,
  uses: readonly DifferenceUse[],
  advice: string,
): void {
  if (uses.length === 0)
    throw new Error(
      `${from} and ${to} serve the same, so no request can reach a server that lacks something: ${advice}.`,
    );
  if (uses.some(({ exercises }) => exercises.length > 0)) return;
  const reasons = uses.map(({ name, reason }) => `${name} (${reason})`).join(', ');
  throw new Error(`Nothing that differs between ${from} and ${to} can be exercised: ${reasons}; ${advice}.`);
}
