import type { JsonObject } from '../../../kube/json.js';
import {
  addQuantities,
  compareAmounts,
  isZeroAmount,
  type QuantityMap,
  quantities,
  raiseQuantities,
} from '../../builtin/amounts.js';
import { child, childOrNew, objects as objectsOf, text } from '../../builtin/fields.js';
import { podQuality } from '../../builtin/quality-of-service.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import { parseQuantity } from '../../values/quantity.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { created, isAbout, isWrite, refused } from './refusal.js';

const LIMIT_RANGES = { group: '', resource: 'limitranges' };
const ANNOTATION = 'kubernetes.io/limit-ranger';

type Amounts = ReadonlyMap<string, string>;

/** Sets the defaults of LimitRanges on new pods; refuses pods and claims outside the limits. */
export function limitRanger(objects: ObjectReader): AdmissionPlugin {
  const rangesOf = (request: AdmissionRequest): JsonObject[] => {
    const isPod = created(request, '', 'pods') !== undefined;
    const isClaim = isAbout(request, '', 'persistentvolumeclaims') && isWrite(request) && request.object !== undefined;
    return isPod || isClaim ? [...objects.list(LIMIT_RANGES, request.namespace)] : [];
  };
  return {
    name: 'LimitRanger',
    mutate: (request) => {
      const ranges = rangesOf(request);
      if (!isAbout(request, '', 'pods')) return;
      for (const range of ranges) setDefaults(request.object!, range);
    },
    validate: (request) => {
      for (const range of rangesOf(request)) {
        const items = objectsOf(child(range, 'spec'), 'limits');
        const found = isAbout(request, '', 'pods')
          ? items.flatMap((item) => podProblems(request.object!, item))
          : items.flatMap((item) => claimProblems(request.object!, item));
        const distinct = [...new Set(found)];
        if (distinct.length > 0)
          throw refused(request, distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`);
      }
    },
  };
}

function setDefaults(pod: JsonObject, range: JsonObject): void {
  const limits: QuantityMap = new Map();
  const requests: QuantityMap = new Map();
  for (const item of objectsOf(child(range, 'spec'), 'limits')) {
    if (text(item, 'type') !== 'Container') continue;
    for (const [name, amount] of quantities(item, 'default')) limits.set(name, amount);
    for (const [name, amount] of quantities(item, 'defaultRequest')) requests.set(name, amount);
  }
  const spec = child(pod, 'spec');
  const notes = [
    ...objectsOf(spec, 'containers').flatMap((each) => fillContainer(each, 'container', { requests, limits })),
    ...objectsOf(spec, 'initContainers').flatMap((each) => fillContainer(each, 'init container', { requests, limits })),
  ];
  if (notes.length === 0) return;
  childOrNew(childOrNew(pod, 'metadata'), 'annotations')[ANNOTATION] = `LimitRanger plugin set: ${notes.join('; ')}`;
  // Requests and limits decide the class of service.
  childOrNew(pod, 'status')['qosClass'] = podQuality(pod);
}

function fillContainer(
  container: JsonObject,
  label: string,
  { requests, limits }: { requests: Amounts; limits: Amounts },
): string[] {
  const resources = childOrNew(container, 'resources');
  const notes: string[] = [];
  for (const [key, word, defaults] of [
    ['requests', 'request', requests],
    ['limits', 'limit', limits],
  ] as const) {
    const given = quantities(resources, key);
    const missing = [...defaults].filter(([name]) => !given.has(name));
    if (missing.length === 0) continue;
    const amounts = childOrNew(resources, key);
    for (const [name, amount] of missing) amounts[name] = amount;
    const names = missing.map(([name]) => name).sort();
    notes.push(`${names.join(', ')} ${word} for ${label} ${text(container, 'name')}`);
  }
  return notes;
}

function podProblems(pod: JsonObject, item: JsonObject): string[] {
  const spec = child(pod, 'spec');
  const type = text(item, 'type');
  if (type === 'Container') {
    return [...objectsOf(spec, 'containers'), ...objectsOf(spec, 'initContainers')].flatMap((container) => {
      const resources = child(container, 'resources');
      const asked = { requests: quantities(resources, 'requests'), limits: quantities(resources, 'limits') };
      return constraintProblems(item, asked);
    });
  }
  if (type !== 'Pod') return [];
  return constraintProblems(item, { requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') });
}

/** Returns the sum of all containers, or the maximum of an init container if that is higher. */
function podAmounts(spec: JsonObject | undefined, key: string): Amounts {
  const sum: QuantityMap = new Map();
  for (const each of objectsOf(spec, 'containers')) addQuantities(sum, quantities(child(each, 'resources'), key));
  for (const each of objectsOf(spec, 'initContainers')) raiseQuantities(sum, quantities(child(each, 'resources'), key));
  for (const [name, amount] of quantities(child(spec, 'resources'), key)) sum.set(name, amount);
  return sum;
}

function claimProblems(claim: JsonObject, item: JsonObject): string[] {
  if (text(item, 'type') !== 'PersistentVolumeClaim') return [];
  const requests = quantities(child(child(claim, 'spec'), 'resources'), 'requests');
  const type = 'PersistentVolumeClaim';
  const few = [...quantities(item, 'min')].map(([name, enforced]) =>
    minimumProblem({ type, name, enforced }, requests.get(name), undefined),
  );
  const many = [...quantities(item, 'max')].map(([name, enforced]) => {
    const about = `maximum ${name} usage per ${type} is ${enforced}`;
    const request = requests.get(name);
    if (request === undefined) return `${about}.  No request is specified`;
    return compareAmounts(request, enforced) > 0 ? `${about}, but request is ${request}` : undefined;
  });
  return [...few, ...many].filter((each) => each !== undefined);
}

interface Constraint {
  readonly type: string;
  readonly name: string;
  readonly enforced: string;
}

function constraintProblems(item: JsonObject, { requests, limits }: { requests: Amounts; limits: Amounts }): string[] {
  const type = text(item, 'type');
  const each = (key: string, check: Check): (string | undefined)[] =>
    [...quantities(item, key)].map(([name, enforced]) =>
      check({ type, name, enforced }, requests.get(name), limits.get(name)),
    );
  return [
    ...each('min', minimumProblem),
    ...each('max', maximumProblem),
    ...each('maxLimitRequestRatio', ratioProblem),
  ].filter((problem) => problem !== undefined);
}

type Check = (constraint: Constraint, request: string | undefined, limit: string | undefined) => string | undefined;

const minimumProblem: Check = ({ type, name, enforced }, request, limit) => {
  const about = `minimum ${name} usage per ${type} is ${enforced}`;
  if (request === undefined) return `${about}.  No request is specified`;
  if (compareAmounts(request, enforced) < 0) return `${about}, but request is ${request}`;
  if (limit !== undefined && compareAmounts(limit, enforced) < 0) return `${about}, but limit is ${limit}`;
  return undefined;
};

const maximumProblem: Check = ({ type, name, enforced }, request, limit) => {
  const about = `maximum ${name} usage per ${type} is ${enforced}`;
  if (limit === undefined) return `${about}.  No limit is specified`;
  if (compareAmounts(limit, enforced) > 0) return `${about}, but limit is ${limit}`;
  if (request !== undefined && compareAmounts(request, enforced) > 0) return `${about}, but request is ${request}`;
  return undefined;
};

const ratioProblem: Check = ({ type, name, enforced }, request, limit) => {
  const about = `${name} max limit to request ratio per ${type} is ${enforced}, but`;
  if (request === undefined || isZeroAmount(request)) return `${about} no request is specified or request is 0`;
  if (limit === undefined || isZeroAmount(limit)) return `${about} no limit is specified or limit is 0`;
  const amount = (value: string): number => Number(parseQuantity(value).billionths) / 1e9;
  const ratio = amount(limit) / amount(request);
  return ratio > amount(enforced) ? `${about} provided ratio is ${ratio.toFixed(6)}` : undefined;
};
