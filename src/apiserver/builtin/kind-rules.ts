import { type JsonObject, jsonEqual, member } from '../../kube/json.js';
import type { StrategyContext } from '../registry/strategy.js';
import type { Problems } from './problems.js';
import type { SurfaceTraits } from './type-defaults.js';

/** Settings of the server that the rules of built-in kinds need. */
export interface BuiltInOptions {
  /** Address ranges of services (`--service-cluster-ip-range`); the first is the primary one. */
  readonly serviceRanges: readonly string[];
  readonly nodePorts: { readonly first: number; readonly last: number };
}

export const DEFAULT_BUILT_IN_OPTIONS: BuiltInOptions = {
  serviceRanges: ['10.0.0.0/24'],
  nodePorts: { first: 30_000, last: 32_767 },
};

export interface RuleContext extends StrategyContext {
  /** Addresses and ports allocated recently, which the caches may not show yet. The allocator bounds its length. */
  readonly recent: string[];
  readonly options: BuiltInOptions;
  readonly surface: SurfaceTraits;
}

/** The rules of one kind. A missing member means the ordinary rule. */
export interface KindRules {
  nameProblems?(name: string, surface: SurfaceTraits): string[];
  readonly createsOnUpdate?: boolean;
  /** True by default. */
  readonly updatesUnconditionally?: boolean;
  /** Whether an update increments `metadata.generation`; kinds without this rule have no generation. */
  generationChanges?(object: JsonObject, live: JsonObject): boolean;
  /** The first minor version in which the kind has a generation; by default all have it. */
  readonly generationFrom?: number;
  /** Whether a create keeps the status of the request. */
  readonly keepsStatusOnCreate?: boolean;
  prepareForCreate?(object: JsonObject, around: RuleContext): void;
  prepareForUpdate?(object: JsonObject, live: JsonObject, around: RuleContext): void;
  /** Called for creates and updates, before `validateCreate` and `validateUpdate`; `live` is undefined for creates. */
  validate?(object: JsonObject, problems: Problems, around: RuleContext, live: JsonObject | undefined): void;
  validateCreate?(object: JsonObject, problems: Problems, around: RuleContext): void;
  validateUpdate?(object: JsonObject, live: JsonObject, problems: Problems, around: RuleContext): void;
  warnings?(object: JsonObject, live: JsonObject | undefined, surface: SurfaceTraits): string[];
  gracePeriodSeconds?(live: JsonObject, requestedSeconds: number | undefined): number | undefined;
  /** The rules of subresources, by name. */
  readonly parts?: Readonly<Record<string, PartRules>>;
}

export interface PartRules {
  /** Members of `metadata` that an update through the subresource cannot change; `all` excludes `managedFields`. */
  readonly keptMetadata?: readonly string[] | 'all';
  /** Turns the object of the request into the one to store. By default everything but the status is kept from `live`. */
  prepareForUpdate?(object: JsonObject, live: JsonObject, around: RuleContext): void;
  validateUpdate?(object: JsonObject, live: JsonObject, problems: Problems, around: RuleContext): void;
  readonly ignoredPaths?: readonly string[];
}

/** A status subresource that changes neither metadata nor spec. */
export const RESET_STATUS: PartRules = { keptMetadata: 'all', ignoredPaths: ['f:metadata', 'f:spec'] };

/** By group and resource: `apps/deployments`, `/pods`. */
export type KindRulesTable = Readonly<Record<string, KindRules>>;

export function specChanges(object: JsonObject, live: JsonObject): boolean {
  return membersChange('spec')(object, live);
}

export function membersChange(...names: readonly string[]): (object: JsonObject, live: JsonObject) => boolean {
  return (object, live) => names.some((name) => !jsonEqual(member(object, name), member(live, name)));
}

export const IMMUTABLE = 'field is immutable';

/** Records a problem where a member has changed. The last segment of the path is its name unless one is given. */
export function keepsMember(
  problems: Problems,
  path: string,
  object: JsonObject,
  live: JsonObject,
  name = path.slice(path.lastIndexOf('.') + 1),
): void {
  const value = member(object, name);
  if (!jsonEqual(value, member(live, name))) problems.invalid(path, value, IMMUTABLE);
}

/** As `keepsMember`, for members whose rule is generated from 1.37 on: the message has no value since then. */
export function keepsDeclaredMember(
  problems: Problems,
  name: string,
  object: JsonObject,
  live: JsonObject,
  { minor }: SurfaceTraits,
): void {
  const value = member(object, name);
  if (!jsonEqual(value, member(live, name))) problems.invalid(name, minor >= 37 ? null : value, IMMUTABLE);
}
