import { type JsonObject, jsonEqual, member } from '../../kube/json.js';
import type { StrategyContext } from '../registry/strategy.js';
import type { Problems } from './problems.js';
import type { SurfaceTraits } from './type-defaults.js';

/** What the server is set up with, and what strategies look at. */
export interface BuiltInOptions {
  /** Where addresses of services come from; the first is the primary one. */
  readonly serviceRanges: readonly string[];
  readonly nodePorts: { readonly first: number; readonly last: number };
}

export const DEFAULT_BUILT_IN_OPTIONS: BuiltInOptions = {
  serviceRanges: ['10.0.0.0/24'],
  nodePorts: { first: 30_000, last: 32_767 },
};

export interface RuleContext extends StrategyContext {
  /** What this strategy has handed out lately and the caches may not show yet; whoever hands out looks after its size. */
  readonly recent: string[];
  readonly options: BuiltInOptions;
  readonly surface: SurfaceTraits;
}

/** What is particular to one kind; whatever is left out follows the ordinary rule. */
export interface KindRules {
  nameProblems?(name: string, surface: SurfaceTraits): string[];
  readonly createsOnUpdate?: boolean;
  /** True unless said otherwise. */
  readonly updatesUnconditionally?: boolean;
  /** Whether what is wished for has changed; kinds without one have no generation. */
  generationChanges?(object: JsonObject, live: JsonObject): boolean;
  /** Kinds that are created with the status they are given. */
  readonly keepsStatusOnCreate?: boolean;
  prepareForCreate?(object: JsonObject, around: RuleContext): void;
  prepareForUpdate?(object: JsonObject, live: JsonObject, around: RuleContext): void;
  /** Of every write; `live` on updates. */
  validate?(object: JsonObject, problems: Problems, around: RuleContext, live: JsonObject | undefined): void;
  validateCreate?(object: JsonObject, problems: Problems, around: RuleContext): void;
  validateUpdate?(object: JsonObject, live: JsonObject, problems: Problems, around: RuleContext): void;
  warnings?(object: JsonObject, live: JsonObject | undefined): string[];
  gracePeriodSeconds?(live: JsonObject, requestedSeconds: number | undefined): number | undefined;
  readonly parts?: Readonly<Record<string, PartRules>>;
}

export interface PartRules {
  /** The members of `metadata` that stay as they are; all but `managedFields` where none are named. */
  readonly keptMetadata?: readonly string[] | 'all';
  /** Changes the object to what is stored; without one, all but the status stays as it is. */
  prepareForUpdate?(object: JsonObject, live: JsonObject, around: RuleContext): void;
  validateUpdate?(object: JsonObject, live: JsonObject, problems: Problems, around: RuleContext): void;
  readonly ignoredPaths?: readonly string[];
}

/** By group and resource: `apps/deployments`, `/pods`. */
export type KindRulesTable = Readonly<Record<string, KindRules>>;

export function specChanges(object: JsonObject, live: JsonObject): boolean {
  return membersChange('spec')(object, live);
}

export function membersChange(...names: readonly string[]): (object: JsonObject, live: JsonObject) => boolean {
  return (object, live) => names.some((name) => !jsonEqual(member(object, name), member(live, name)));
}

export const IMMUTABLE = 'field is immutable';

/** Records a problem where a member has changed. */
export function keepsMember(
  problems: Problems,
  {
    object,
    live,
    path,
    name,
  }: { object: JsonObject | undefined; live: JsonObject | undefined; path: string; name: string },
): void {
  const value = object === undefined ? undefined : member(object, name);
  if (!jsonEqual(value, live === undefined ? undefined : member(live, name))) {
    problems.invalid(path, value, IMMUTABLE);
  }
}
