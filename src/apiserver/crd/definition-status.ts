import { isObject, type JsonObject } from '../../kube/json.js';
import { isReserved } from '../registry/storage-layout.js';
import type { FieldProblem } from '../schema/field-problems.js';
import { formatProblems } from '../schema/validate.js';
import { approvalCondition } from './approval.js';
import { hasInvalidCaBundle } from './conversion-rules.js';
import {
  conditionOf,
  type Definition,
  type DefinitionCondition,
  type DefinitionNames,
  isConditionTrue,
  listIn,
  objectIn,
  readDefinition,
  readNames,
} from './definition.js';
import { structuralProblems, unsupportedText } from './structural.js';
import { sizeProblem } from './sub-schemas.js';

/**
 * The status that a definition should have. `all` are all definitions as they are now, this one among them: names are
 * given to whoever had them first. `now` is the time of conditions that change.
 */
export function definitionStatus(crd: JsonObject, all: readonly JsonObject[], now: string): JsonObject {
  const definition = readDefinition(crd);
  const status = objectIn(crd, 'status') ?? {};
  const { accepted, condition: naming } = hasReservedName(definition)
    ? refusedNames(definition)
    : acceptNames(crd, all);
  const approval = approvalCondition(crd, definition.group);
  let conditions = listIn(status, 'conditions').filter(isObject);
  conditions = withCondition(conditions, naming, now);
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

/** The conditions with one set; its time changes only with its status. */
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

/** Whether the definition has the name, and so would have the stored objects, of a built-in resource. */
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

/** Names of resources and names of kinds are two spaces, each shared by the definitions of a group. */
function acceptNames(
  crd: JsonObject,
  all: readonly JsonObject[],
): { accepted: DefinitionNames; condition: DefinitionCondition } {
  const { group, names } = readDefinition(crd);
  const before = readNames(objectIn(objectIn(crd, 'status') ?? {}, 'acceptedNames') ?? {});
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
    const names = readNames(objectIn(objectIn(each, 'status') ?? {}, 'acceptedNames') ?? {});
    for (const name of [names.plural, names.singular, ...names.shortNames]) resources.add(name);
    for (const name of [names.kind, names.listKind]) kinds.add(name);
  }
  return [resources, kinds];
}

/** In the form of the API: two names are always there. */
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

/** Looking at a whole schema takes long: once for each spec is enough. */
const knownStructures = new WeakMap<JsonObject, { readonly condition: DefinitionCondition | undefined }>();

function structureCondition(crd: JsonObject): DefinitionCondition | undefined {
  const spec = objectIn(crd, 'spec');
  if (spec === undefined) return undefined;
  let known = knownStructures.get(spec);
  if (known === undefined) {
    known = { condition: newStructureCondition(crd) };
    knownStructures.set(spec, known);
  }
  return known.condition;
}

function newStructureCondition(crd: JsonObject): DefinitionCondition | undefined {
  const type = 'NonStructuralSchema';
  const definition = readDefinition(crd);
  const problems: FieldProblem[] = [];
  if (definition.preservesUnknownFields) {
    const field = 'spec.preserveUnknownFields';
    problems.push({ reason: 'FieldValueInvalid', message: 'Invalid value: true: must be false', field });
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
