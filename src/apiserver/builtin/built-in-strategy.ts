import { cloneJson, type JsonObject, member, setMember } from '../../kube/json.js';
import type { PartStrategy, Strategy, StrategyContext } from '../registry/strategy.js';
import type { FieldProblem } from '../schema/field-problems.js';
import type { Schema } from '../schema/schema.js';
import { dnsSubdomainProblems } from './built-in-formats.js';
import { child, childOrNew, number, remove, restore } from './fields.js';
import {
  type BuiltInOptions,
  DEFAULT_BUILT_IN_OPTIONS,
  type KindRules,
  type PartRules,
  type RuleContext,
} from './kind-rules.js';
import { KIND_RULES } from './kinds/all-kinds.js';
import { Problems } from './problems.js';
import { withBuiltInDefaults } from './set-defaults.js';
import type { SurfaceTraits } from './type-defaults.js';

/** The resource of a strategy; a `ResourceType` is one. */
interface StrategyResource {
  readonly group: string;
  readonly resource: string;
  /** Whether it has a `status` subresource. */
  readonly hasStatus: boolean;
  /** The Kubernetes version, such as `1.36`. */
  readonly surfaceVersion: string;
}

const IDENTITY = new Set(['apiVersion', 'kind', 'metadata']);

/** The strategy of a built-in kind: its defaults, preparation and validation are kube-apiserver's. */
export function builtInStrategy(
  resource: StrategyResource,
  schema: Schema,
  options: Partial<BuiltInOptions> = {},
): Strategy {
  const key = `${resource.group}/${resource.resource}`;
  const rules = Object.hasOwn(KIND_RULES, key) ? KIND_RULES[key]! : {};
  const minor = Number(resource.surfaceVersion.split('.')[1]);
  return new BuiltInStrategy(resource, schema, rules, { ...DEFAULT_BUILT_IN_OPTIONS, ...options }, { minor });
}

class BuiltInStrategy implements Strategy {
  readonly preparesWithDefaults = true;
  readonly hasGeneration: boolean;
  readonly hasStatus: boolean;
  readonly createsOnUpdate: boolean;
  readonly updatesUnconditionally: boolean;
  readonly parts: ReadonlyMap<string, PartStrategy>;
  readonly #recent: string[] = [];
  readonly warnings?: NonNullable<Strategy['warnings']>;
  readonly gracePeriodSeconds?: NonNullable<Strategy['gracePeriodSeconds']>;

  readonly #schema: Schema;
  readonly #rules: KindRules;
  readonly #options: BuiltInOptions;
  readonly #surface: SurfaceTraits;

  constructor(
    resource: StrategyResource,
    schema: Schema,
    rules: KindRules,
    options: BuiltInOptions,
    surface: SurfaceTraits,
  ) {
    this.#schema = schema;
    this.#rules = rules;
    this.#options = options;
    this.#surface = surface;
    this.hasStatus = resource.hasStatus;
    this.hasGeneration = rules.generationChanges !== undefined && surface.minor >= (rules.generationFrom ?? 0);
    this.createsOnUpdate = rules.createsOnUpdate ?? false;
    this.updatesUnconditionally = rules.updatesUnconditionally ?? true;
    const { warnings } = rules;
    if (warnings !== undefined) this.warnings = (object, live) => warnings(object, live, surface);
    if (rules.gracePeriodSeconds !== undefined) this.gracePeriodSeconds = rules.gracePeriodSeconds;
    const parts = { ...(resource.hasStatus ? { status: {} } : {}), ...rules.parts };
    this.parts = new Map(Object.entries(parts).map(([name, part]) => [name, new BuiltInPart(part, this)]));
  }

  nameProblems(name: string, isPrefix: boolean): string[] {
    // A prefix is checked as if a character followed it.
    const whole = isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
    return this.#rules.nameProblems?.(whole, this.#surface) ?? dnsSubdomainProblems(whole);
  }

  setDefaults(object: JsonObject): JsonObject {
    return withBuiltInDefaults(object, this.#schema, this.#surface);
  }

  prepareForCreate(object: JsonObject, context: StrategyContext): JsonObject {
    if (this.hasStatus && this.#rules.keepsStatusOnCreate !== true) remove(object, 'status');
    if (this.hasGeneration) childOrNew(object, 'metadata')['generation'] = 1;
    this.#rules.prepareForCreate?.(object, this.around(context));
    return this.setDefaults(object);
  }

  prepareForUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): JsonObject {
    if (this.hasStatus) restore(object, live, 'status');
    this.#rules.prepareForUpdate?.(object, live, this.around(context));
    const changes = this.#rules.generationChanges;
    if (changes !== undefined && this.hasGeneration) {
      const before = number(child(live, 'metadata'), 'generation') ?? 0;
      const generation = changes(object, live) ? before + 1 : before;
      if (generation > 0) childOrNew(object, 'metadata')['generation'] = generation;
    }
    return this.setDefaults(object);
  }

  validateCreate(object: JsonObject, context: StrategyContext): FieldProblem[] {
    const problems = new Problems();
    const around = this.around(context);
    this.#rules.validate?.(object, problems, around, undefined);
    this.#rules.validateCreate?.(object, problems, around);
    return problems.all;
  }

  validateUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): FieldProblem[] {
    const problems = new Problems();
    const around = this.around(context);
    this.#rules.validate?.(object, problems, around, live);
    this.#rules.validateUpdate?.(object, live, problems, around);
    return problems.all;
  }

  around(context: StrategyContext): RuleContext {
    const { now, objects } = context;
    return { now, objects, options: this.#options, surface: this.#surface, recent: this.#recent };
  }
}

class BuiltInPart implements PartStrategy {
  readonly ignoredPaths: readonly string[];

  readonly #rules: PartRules;
  readonly #whole: BuiltInStrategy;

  constructor(rules: PartRules, whole: BuiltInStrategy) {
    this.#rules = rules;
    this.#whole = whole;
    this.ignoredPaths = rules.ignoredPaths ?? ['f:spec'];
  }

  prepareForUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): JsonObject {
    keepMetadata(object, live, this.#rules.keptMetadata ?? []);
    const prepare = this.#rules.prepareForUpdate;
    if (prepare === undefined) keepAllBut(object, live, 'status');
    else prepare(object, live, this.#whole.around(context));
    return this.#whole.setDefaults(object);
  }

  validateUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): FieldProblem[] {
    const problems = new Problems();
    this.#rules.validateUpdate?.(object, live, problems, this.#whole.around(context));
    return problems.all;
  }
}

function keepMetadata(object: JsonObject, live: JsonObject, kept: readonly string[] | 'all'): void {
  const metadata = childOrNew(object, 'metadata');
  const before = child(live, 'metadata') ?? {};
  const names = kept === 'all' ? [...new Set([...Object.keys(metadata), ...Object.keys(before)])] : kept;
  restore(metadata, before, ...names.filter((name) => name !== 'managedFields'));
}

/** Restores the members of the live object, except the one that the subresource writes. */
function keepAllBut(object: JsonObject, live: JsonObject, name: string): void {
  for (const key of Object.keys(object)) if (key !== name && !IDENTITY.has(key)) delete object[key];
  for (const key of Object.keys(live)) {
    if (key !== name && !IDENTITY.has(key)) setMember(object, key, cloneJson(member(live, key)!));
  }
}
