import type { JsonObject } from '../../kube/json.js';
import { isReserved } from '../registry/storage-layout.js';
import { type FieldProblem, invalid } from '../schema/field-problems.js';
import { formatProblems } from '../schema/validate.js';
import { approvalCondition } from './approval.js';
import { hasInvalidCaBundle } from './conversion-rules.js';
import {
  acceptedNamesOf,
  conditionOf,
  conditionsOf,
  type Definition,
  type DefinitionCondition,
  type DefinitionNames,
  isConditionTrue,
  objectIn,
  readDefinition,
  readNames,
} from './definition.js';
import { structuralProblems, unsupportedText } from './structural.js';
import { sizeProblem } from './sub-schemas.js';

/**
 * Returns the status that a definition should have. `all` are all current definitions with this one: a
 * name belongs to the definition that had it first. `now` is the time of conditions that change.
 */
export function definitionStatus(crd: JsonObject, all: readonly JsonObject[], now: string): JsonObject {
  const definition = readDefinition(crd);
  const { accepted, condition: naming } = hasReservedName(definition)
    ? refusedNames(definition)
    : acceptNames(crd, all);
  const approval = approvalCondition(crd, definition.group);
  let conditions = withCondition(conditionsOf(crd), naming, now);
  conditions = withCondition(conditions, establishment(crd, naming), now);
  const nonStructural = structureCondition(crd);
  conditions =
    nonStructural === undefined
      ? conditions.filter((each) => each['type'] !== 'NonStructuralSchema')
      : withCondition(conditions, nonStructural, now);
  if (approval !== undefined) conditions = withCondition(conditions, approval, now);
  const stored =
    definition.storedVersions.length > 0
      ? [...definition.storedVersions]
      : definition.versions.filter(({ isStorage }) => isStorage).map(({ name }) => name);
  return { conditions, acceptedNames: shownNames(accepted), storedVersions: stored };
}

/** Returns the conditions with one set, whose time changes only with its status. */
export function withCondition(
  conditions: readonly JsonObject[],
  condition: DefinitionCondition,
  now: string,
): JsonObject[] {
  const old = conditions.find((each) => each['type'] === condition.type);
  const isSame = old?.['status'] === condition.status && typeof old['lastTransitionTime'] === 'string';
  const made: JsonObject = {
    type: condition.type,
    status: condition.status,
    lastTransitionTime: isSame ? old['lastTransitionTime']! : now,
    reason: condition.reason,
    message: condition.message,
  };
  return old === undefined ? [...conditions, made] : conditions.map((each) => (each === old ? made : each));
}

function establishment(crd: JsonObject, naming: DefinitionCondition): DefinitionCondition {
  const type = 'Established';
  if (isConditionTrue(crd, type) && !hasReservedName(readDefinition(crd))) {
    const { reason, message } = conditionOf(crd, type)! as unknown as DefinitionCondition;
    return { type, status: 'True', reason, message };
  }
  if (naming.status !== 'True') {
    return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  }
  if (hasInvalidCaBundle(readDefinition(crd).conversion)) {
    return { type, status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' };
  }
  return { type, status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
}

/** Returns whether the definition has the name, and so would have the stored objects, of a built-in resource. */
export function hasReservedName({ group, names }: Pick<Definition, 'group' | 'names'>): boolean {
  return isReserved({ group, resource: names.plural });
}

function refusedNames({ group, names }: Definition): { accepted: DefinitionNames; condition: DefinitionCondition } {
  const message = `${JSON.stringify(names.plural)} is built in to Kubernetes in group ${group}`;
  return {
    accepted: readNames({}),
    condition: { type: 'NamesAccepted', status: 'False', reason: 'PluralConflict', message },
  };
}

/** Accepts names that no other definition of the group has. Resources and kinds are separate name spaces. */
function acceptNames(
  crd: JsonObject,
  all: readonly JsonObject[],
): { accepted: DefinitionNames; condition: DefinitionCondition } {
  const { group, names } = readDefinition(crd);
  const before = acceptedNamesOf(crd);
  const [resources, kinds] = usedNames(all, group);
  const accepted = { ...before, categories: names.categories };
  let conflict: { reason: string; message: string } | undefined;
  const claim = (
    name: 'plural' | 'singular' | 'kind' | 'listKind',
    used: ReadonlySet<string>,
    reason: string,
  ): void => {
    if (names[name] === before[name] || !used.has(names[name])) accepted[name] = names[name];
    else conflict = { reason, message: inUse(names[name]) };
  };
  claim('plural', resources, 'PluralConflict');
  claim('singular', resources, 'SingularConflict');
  const taken = names.shortNames.filter((each) => !before.shortNames.includes(each) && resources.has(each));
  if (taken.length === 0) accepted.shortNames = names.shortNames;
  else {
    const texts = [...new Set(taken.map(inUse))];
    conflict = { reason: 'ShortNamesConflict', message: texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]` };
  }
  claim('kind', kinds, 'KindConflict');
  claim('listKind', kinds, 'ListKindConflict');
  const found = conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' };
  return {
    accepted,
    condition: { type: 'NamesAccepted', status: conflict === undefined ? 'True' : 'False', ...found },
  };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

function usedNames(all: readonly JsonObject[], group: string): [resources: Set<string>, kinds: Set<string>] {
  const [resources, kinds] = [new Set<string>(), new Set<string>()];
  for (const each of all) {
    if (objectIn(each, 'spec')?.['group'] !== group) continue;
    const names = acceptedNamesOf(each);
    for (const name of [names.plural, names.singular, ...names.shortNames]) resources.add(name);
    for (const name of [names.kind, names.listKind]) kinds.add(name);
  }
  return [resources, kinds];
}

/** Returns the names as the API shows them: empty ones are left out, except two. */
function shownNames({ plural, singular, shortNames, kind, listKind, categories }: DefinitionNames): JsonObject {
  return {
    plural,
    ...(singular === '' ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    kind,
    ...(listKind === '' ? {} : { listKind }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}

/** Kept for each spec, because the check of a whole schema takes long. */
const knownStructures = new WeakMap<JsonObject, { readonly condition: DefinitionCondition | undefined }>();

function structureCondition(crd: JsonObject): DefinitionCondition | undefined {
  const spec = objectIn(crd, 'spec');
  if (spec === undefined) return undefined;
  const known = knownStructures.get(spec) ?? { condition: newStructureCondition(crd) };
  knownStructures.set(spec, known);
  return known.condition;
}

function newStructureCondition(crd: JsonObject): DefinitionCondition | undefined {
  const type = 'NonStructuralSchema';
  const definition = readDefinition(crd);
  const problems: FieldProblem[] = [];
  if (definition.preservesUnknownFields) {
    problems.push(invalid('spec.preserveUnknownFields', true, 'must be false'));
  }
  for (const [index, { name, openApi }] of definition.versions.entries()) {
    if (openApi === undefined) continue;
    const text = sizeProblem(openApi) ?? unsupportedText(openApi);
    if (text !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${text}`;
      return { type, status: 'Unknown', reason: 'StructuralError', message };
    }
    problems.push(...structuralProblems(openApi, `spec.versions[${index}].schema.openAPIV3Schema`));
  }
  if (problems.length === 0) return undefined;
  return { type, status: 'True', reason: 'Violations', message: formatProblems(problems) };
}
