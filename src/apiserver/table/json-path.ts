import { isObject, type Json, member } from '../../kube/json.js';

/** A path in a custom resource, as columns and scale subresources use them. */
type JsonPath = readonly PathStep[];

type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: JsonPath; readonly operator: string; readonly value: Json | undefined };

export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

const JSON_PATH_LENGTH_MAX = 4_096;
/** Bound on the values that a path with several wildcards may select. */
const VALUES_MAX = 10_000;

const STEP =
  /\.((?:\\.|[^.[\]\\])+)|\[(-?\d+)\]|\[\*\]|\.\*|\['((?:\\.|[^'\\])*)'\]|\["((?:\\.|[^"\\])*)"\]|\[\?\(\s*@((?:\.(?:\\.|[\w-])+|\['[^']*'\])+)\s*(?:(==|!=|<=|>=|<|>)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|true|false|null|-?[\d.]+)\s*)?\)\]/y;

/** `.spec.a`, `['a.b']`, `[0]`, `[*]` and `[?(@.type=="Ready")]`. */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > JSON_PATH_LENGTH_MAX) throw new JsonPathError(`path is longer than ${JSON_PATH_LENGTH_MAX}`);
  const steps: PathStep[] = [];
  const source = text.startsWith('.') || text.startsWith('[') ? text : `.${text}`;
  let position = 0;
  while (position < source.length) {
    STEP.lastIndex = position;
    const match = STEP.exec(source);
    if (match === null) throw new JsonPathError(`unrecognized path ${JSON.stringify(source.slice(position))}`);
    // Read before stepOf, because the path inside a filter is parsed with the same expression.
    position = STEP.lastIndex;
    steps.push(stepOf(match));
  }
  return steps;
}

/** All values at the path, in the order of the document. */
export function evaluateJsonPath(root: Json, path: JsonPath): Json[] {
  let values: Json[] = [root];
  for (const step of path) {
    values = values.flatMap((value) => follow(value, step)).slice(0, VALUES_MAX);
  }
  return values;
}

function stepOf([whole, name, index, single, double, filter, operator, value]: RegExpExecArray): PathStep {
  if (whole === '[*]' || whole === '.*') return { kind: 'all' };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  if (filter !== undefined) {
    return { kind: 'filter', path: parseJsonPath(filter), operator: operator ?? '', value: literal(value) };
  }
  return { kind: 'field', name: (name ?? single ?? double ?? '').replace(/\\(.)/gs, '$1') };
}

function literal(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  if (/^["']/.test(text)) return text.slice(1, -1).replace(/\\(.)/gs, '$1');
  if (text === 'null') return null;
  return text === 'true' || text === 'false' ? text === 'true' : Number(text);
}

function follow(value: Json, step: PathStep): Json[] {
  switch (step.kind) {
    case 'field': {
      const found = isObject(value) ? member(value, step.name) : undefined;
      return found === undefined ? [] : [found];
    }
    case 'index': {
      const found = Array.isArray(value) ? value.at(step.index) : undefined;
      return found === undefined ? [] : [found];
    }
    case 'all':
      if (Array.isArray(value)) return value;
      return isObject(value) ? Object.values(value) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function passes(item: Json, { path, operator, value }: Extract<PathStep, { kind: 'filter' }>): boolean {
  const found = evaluateJsonPath(item, path)[0];
  if (found === undefined || operator === '' || value === undefined) return found !== undefined && operator === '';
  if (operator === '==') return found === value;
  if (operator === '!=') return found !== value;
  if (typeof found !== typeof value || (typeof found !== 'number' && typeof found !== 'string')) return false;
  const order = found < value! ? -1 : found > value! ? 1 : 0;
  return { '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[operator] === true;
}
