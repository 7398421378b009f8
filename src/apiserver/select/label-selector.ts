import { parseRequirements } from './label-selector-parser.js';
import { type LabelOperator, type LabelRequirement, requirement, SelectorError } from './label-selector-requirement.js';

export { type LabelOperator, type LabelRequirement, SelectorError } from './label-selector-requirement.js';

/** All requirements must hold; an empty selector matches every object. Sorted by key, as in kube-apiserver. */
export type LabelSelector = readonly LabelRequirement[];

export type Labels = Readonly<Record<string, string>>;

/** Bound on the length of a selector: matching costs labels × requirements for every object of a list. */
export const SELECTOR_LENGTH_MAX = 256 * 1024;

/** Parses the `labelSelector` parameter. Throws SelectorError with kube-apiserver's words. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > SELECTOR_LENGTH_MAX)
    throw new SelectorError(`selector is longer than ${SELECTOR_LENGTH_MAX} bytes`);
  return byKey(parseRequirements(text));
}

/** `metav1.LabelSelector` in an object. A missing selector matches nothing, an empty one everything. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const OBJECT_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

const NO_EXPRESSION = { key: '', operator: '', values: [] };

export function labelSelectorFromObject(selector: LabelSelectorObject): LabelSelector {
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirement(key, '=', [value]));
  for (const expression of selector.matchExpressions ?? []) {
    // Any of these may be null, which Kubernetes reads as the empty value.
    const { key, operator, values } = expression ?? NO_EXPRESSION;
    const known = Object.hasOwn(OBJECT_OPERATORS, operator) ? OBJECT_OPERATORS[operator] : undefined;
    if (known === undefined) throw new SelectorError(`"${operator}" is not a valid label selector operator`);
    requirements.push(requirement(key ?? '', known, values ?? []));
  }
  return byKey(requirements);
}

export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  return selector.every((each) => matchesRequirement(each, labels ?? {}));
}

/** The canonical text: equal selectors are equal texts, so it serves as a key of caches. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector.map(formatRequirement).join(',');
}

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && isAmong(values, value);
    case '!=':
    case 'notin':
      return value === undefined || !isAmong(values, value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const number = value === undefined ? undefined : parseInt64(value);
      const bound = parseInt64(values[0]!);
      if (number === undefined || bound === undefined) return false;
      return operator === 'gt' ? number > bound : number < bound;
    }
  }
}

/** A search in up to so many values is faster than a lookup in a set. */
const LISTED_VALUES_MAX = 8;
const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function isAmong(values: readonly string[], value: string): boolean {
  if (values.length <= LISTED_VALUES_MAX) return values.includes(value);
  let set = valueSets.get(values);
  if (set === undefined) {
    set = new Set(values);
    valueSets.set(values, set);
  }
  return set.has(value);
}

function parseInt64(text: string): bigint | undefined {
  return /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  const sorted = [...values].sort(byText).join(',');
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${sorted})`;
    case 'gt':
      return `${key}>${sorted}`;
    case 'lt':
      return `${key}<${sorted}`;
    default:
      return `${key}${operator}${sorted}`;
  }
}

function byKey(requirements: LabelRequirement[]): LabelSelector {
  return requirements.sort((left, right) => byText(left.key, right.key));
}

function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
