import type { JsonObject } from '../../../kube/json.js';
import { configKeyProblems, dnsLabelProblems, dnsSubdomainProblems, envNameProblems } from '../built-in-formats.js';
import { child, eachObject, has, number, text } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkLabelName } from './labels.js';
import { checkLocalPath, checkNoBacksteps } from './paths.js';

/** Fields of a pod that environment variables can hold. */
const ENVIRONMENT_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Fields of a pod that files of a downward API volume can hold. */
const FILE_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
/** Other fields are reported as unknown, not as unsupported in this place. */
const KNOWN_FIELDS = new Set([
  ...ENVIRONMENT_FIELDS,
  ...FILE_FIELDS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const BINARY = {
  supported: /^1([kMGTPE]|[KMGTPE]i)?$/,
  printed: '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei',
};
const DIVISORS = [
  { of: '.cpu', name: 'cpu', supported: /^1m?$/, printed: '1m and 1' },
  { of: '.memory', name: 'memory', ...BINARY },
  { of: '.ephemeral-storage', name: 'local ephemeral storage', ...BINARY },
];
const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

export function checkEnvironment(problems: Problems, field: string, container: JsonObject): void {
  for (const [path, variable] of eachObject(container, field, 'env')) {
    problems.requiredFormat(`${path}.name`, text(variable, 'name'), envNameProblems);
    const source = child(variable, 'valueFrom');
    if (source !== undefined) checkValueFrom(problems, `${path}.valueFrom`, source, text(variable, 'value'));
  }
  for (const [path, source] of eachObject(container, field, 'envFrom')) {
    checkEnvFrom(problems, `${field}.envFrom`, source, path);
  }
}

function checkValueFrom(problems: Problems, field: string, source: JsonObject, value: string): void {
  const fieldRef = child(source, 'fieldRef');
  if (fieldRef !== undefined) checkFieldRef(problems, `${field}.fieldRef`, fieldRef, ENVIRONMENT_FIELDS);
  const resource = child(source, 'resourceFieldRef');
  if (resource !== undefined) checkResourceFieldRef(problems, `${field}.resourceFieldRef`, resource, false);
  for (const name of ['configMapKeyRef', 'secretKeyRef']) {
    const reference = child(source, name);
    if (reference !== undefined) checkKeyRef(problems, `${field}.${name}`, reference);
  }
  const file = child(source, 'fileKeyRef');
  if (file !== undefined) checkFileKeyRef(problems, `${field}.fileKeyRef`, file);
  const count = SOURCES.filter((name) => has(source, name)).length;
  if (count === 0) {
    const rule =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    problems.invalid(field, '', rule);
  } else if (value !== '') problems.invalid(field, '', 'may not be specified when `value` is not empty');
  else if (count > 1) problems.invalid(field, '', 'may not have more than one field specified at a time');
}

function checkFieldRef(problems: Problems, field: string, reference: JsonObject, allowed: readonly string[]): void {
  const path = text(reference, 'fieldPath');
  const missing = ['apiVersion', 'fieldPath'].find((name) => text(reference, name) === '');
  if (missing !== undefined) {
    problems.required(`${field}.${missing}`);
    return;
  }
  const [, base = path, key] = /^(.*)\['(.*)'\]$/.exec(path) ?? [];
  if (!KNOWN_FIELDS.has(base)) {
    problems.invalid(`${field}.fieldPath`, path, `error converting fieldPath: field label not supported: ${base}`);
  } else if (key !== undefined) {
    if (base === 'metadata.annotations') checkLabelName(problems, field, key.toLowerCase());
    else if (base === 'metadata.labels') checkLabelName(problems, field, key);
    else problems.invalid(field, base, 'does not support subscript');
  } else problems.oneOf(`${field}.fieldPath`, base, allowed);
}

function checkResourceFieldRef(problems: Problems, field: string, reference: JsonObject, isFile: boolean): void {
  const resource = text(reference, 'resource');
  if (isFile && text(reference, 'containerName') === '') problems.required(`${field}.containerName`);
  else if (resource === '') problems.required(`${field}.resource`);
  else if (!/^(requests|limits)\.hugepages-/.test(resource))
    problems.oneOf(`${field}.resource`, resource, RESOURCE_FIELDS);
  const divisor = text(reference, 'divisor');
  if (divisor === '' || divisor === '0') return;
  const divisors = DIVISORS.find(({ of }) => resource.endsWith(of));
  if (divisors === undefined || divisors.supported.test(divisor)) return;
  const { printed, name } = divisors;
  problems.invalid(
    `${field}.divisor`,
    resource,
    `only divisor's values ${printed} are supported with the ${name} resource`,
  );
}

function checkKeyRef(problems: Problems, field: string, reference: JsonObject): void {
  problems.format(`${field}.name`, text(reference, 'name'), dnsSubdomainProblems);
  problems.requiredFormat(`${field}.key`, text(reference, 'key'), configKeyProblems);
}

function checkFileKeyRef(problems: Problems, field: string, reference: JsonObject): void {
  problems.requiredFormat(`${field}.key`, text(reference, 'key'), envNameProblems);
  problems.requiredFormat(`${field}.volumeName`, text(reference, 'volumeName'), dnsLabelProblems);
  const path = text(reference, 'path');
  if (path === '') problems.required(`${field}.path`);
  else checkNoBacksteps(problems, `${field}.path`, path);
}

function checkEnvFrom(problems: Problems, field: string, source: JsonObject, path: string): void {
  problems.format(`${path}.prefix`, text(source, 'prefix'), envNameProblems);
  const found = ['configMapRef', 'secretRef'].filter((name) => has(source, name));
  for (const each of found) {
    problems.requiredFormat(`${path}.${each}.name`, text(child(source, each), 'name'), dnsSubdomainProblems);
  }
  if (found.length === 0) problems.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`');
  else if (found.length > 1) problems.invalid(field, '', 'may not have more than one field specified at a time');
}

/** A file of a downward API volume. */
export function checkDownwardFile(problems: Problems, field: string, file: JsonObject): void {
  problems.requiredMembers(file, field, 'path');
  checkLocalPath(problems, `${field}.path`, text(file, 'path'));
  const fieldRef = child(file, 'fieldRef');
  const resource = child(file, 'resourceFieldRef');
  if (fieldRef !== undefined) {
    checkFieldRef(problems, `${field}.fieldRef`, fieldRef, FILE_FIELDS);
    if (resource !== undefined) {
      problems.invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (resource !== undefined) checkResourceFieldRef(problems, `${field}.resourceFieldRef`, resource, true);
  else problems.required(field, 'one of fieldRef and resourceFieldRef is required');
  checkFileMode(problems, file, field, 'mode');
}

export function checkFileMode(problems: Problems, object: JsonObject, field: string, key: string): void {
  const mode = number(object, key);
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return;
  problems.invalid(`${field}.${key}`, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}
