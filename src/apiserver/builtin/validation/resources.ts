import type { JsonObject } from '../../../kube/json.js';
import { amountOf, compareAmounts, quantities } from '../amounts.js';
import { labelKeyProblems } from '../built-in-formats.js';
import { eachObject, text } from '../fields.js';
import type { Problems } from '../problems.js';

const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const INTEGER_RESOURCES = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const STANDARD_RESOURCES = new Set([
  ...CONTAINER_RESOURCES,
  ...INTEGER_RESOURCES,
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'requests.storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isRequestOfHugePages = (name: string): boolean => /^(requests\.)?hugepages-/.test(name);

export const isQuotaResource = (name: string): boolean =>
  (STANDARD_RESOURCES.has(name) && name !== 'storage') || isRequestOfHugePages(name) || name.startsWith('count/');

/** Resources of Kubernetes itself have no domain, or one that ends in `kubernetes.io`. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && labelKeyProblems(`requests.${name}`).length === 0;
/** Whether requests may be less than limits. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

export function checkResourceName(problems: Problems, field: string, name: string): void {
  const found = labelKeyProblems(name);
  problems.invalidEach(field, name, found);
  if (found.length === 0 && !name.includes('/') && !STANDARD_RESOURCES.has(name) && !isRequestOfHugePages(name)) {
    problems.invalid(field, name, 'must be a standard resource type or fully qualified');
  }
}

export function checkContainerResourceName(problems: Problems, field: string, name: string): void {
  checkResourceName(problems, field, name);
  if (!name.includes('/')) {
    if (!CONTAINER_RESOURCES.has(name) && !isHugePages(name)) {
      problems.invalid(field, name, 'must be a standard resource for containers');
    }
  } else if (!isNative(name) && !isExtended(name)) {
    problems.invalid(field, name, "doesn't follow extended resource name standard");
  }
}

function checkPodResourceName(problems: Problems, field: string, name: string): void {
  const before = problems.count;
  checkResourceName(problems, field, name);
  if (problems.count === before && !/^(cpu|memory|hugepages-.*)$/.test(name)) {
    problems.unsupported(field, name, ['cpu', 'hugepages-', 'memory']);
  }
}

export function checkQuotaResourceName(problems: Problems, field: string, name: string): void {
  checkResourceName(problems, field, name);
  if (!name.includes('/') && !isQuotaResource(name))
    problems.invalid(field, name, 'must be a standard resource for quota');
}

/** Amounts are not negative; counts and extended resources are integers. */
export function checkResourceAmount(problems: Problems, field: string, name: string, value: string): void {
  const amount = amountOf(value);
  if (amount === undefined) return;
  if (amount.billionths < 0n) problems.invalid(field, value, 'must be greater than or equal to 0');
  const isWhole = amount.billionths % 1_000_000_000n === 0n;
  if ((INTEGER_RESOURCES.has(name) || isExtended(name)) && !isWhole) {
    problems.invalid(field, value, 'must be an integer');
  }
}

interface RequirementRules {
  readonly level: 'container' | 'pod';
  /** Claims of the pod that a container may name. */
  readonly claimNames: ReadonlySet<string>;
}

export function checkRequirements(
  problems: Problems,
  field: string,
  requirements: JsonObject | undefined,
  rules: RequirementRules,
): void {
  const checkName = rules.level === 'pod' ? checkPodResourceName : checkContainerResourceName;
  const limits = quantities(requirements, 'limits');
  const requests = quantities(requirements, 'requests');
  const checkAmount = (path: string, name: string, amount: string): void => {
    checkName(problems, path, name);
    checkResourceAmount(problems, path, name, amount);
  };
  for (const [name, amount] of limits) checkAmount(`${field}.limits[${name}]`, name, amount);
  for (const [name, amount] of requests) {
    checkAmount(`${field}.requests[${name}]`, name, amount);
    checkAgainstLimit(problems, field, { name, amount, limit: limits.get(name) });
  }
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    problems.forbidden(field, 'HugePages require cpu or memory');
  }
  checkClaims(problems, field, requirements, rules.claimNames);
}

function checkAgainstLimit(
  problems: Problems,
  field: string,
  { name, amount, limit }: { name: string; amount: string; limit: string | undefined },
): void {
  if (limit === undefined) {
    if (!isOvercommitAllowed(name)) {
      problems.required(`${field}.limits`, 'Limit must be set for non overcommitable resources');
    }
    return;
  }
  const difference = compareAmounts(amount, limit);
  if (difference !== 0 && !isOvercommitAllowed(name)) {
    problems.invalid(`${field}.requests`, amount, `must be equal to ${name} limit of ${limit}`);
  } else if (difference > 0) {
    problems.invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function checkClaims(
  problems: Problems,
  field: string,
  requirements: JsonObject | undefined,
  claimNames: ReadonlySet<string>,
): void {
  const seen = new Set<string>();
  let rule: string | undefined;
  for (const [path, claim] of eachObject(requirements, field, 'claims')) {
    if (problems.isFull) break;
    const name = text(claim, 'name');
    if (name === '') problems.required(path);
    else if (seen.has(name)) problems.duplicate(path, name);
    else if (!claimNames.has(name)) {
      rule ??= `must be one of the names in pod.spec.resourceClaims${knownClaims(claimNames)}`;
      problems.notFound(path, name, rule);
    }
    seen.add(name);
  }
}

function knownClaims(claimNames: ReadonlySet<string>): string {
  const known = [...claimNames].sort().join(', ');
  return known === '' ? ' which is empty' : `: ${known}`;
}

/** Checks the resources that a pod needs besides its containers; they follow the rules of limits. */
export function checkOverhead(problems: Problems, field: string, overhead: JsonObject | undefined): void {
  if (overhead === undefined) return;
  checkRequirements(problems, field, { limits: overhead }, { level: 'container', claimNames: new Set() });
}
