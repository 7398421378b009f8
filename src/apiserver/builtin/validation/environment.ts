import type { JsonObject } from '../../../kube/json.js';
import { configKeyProblems, dnsLabelProblems, dnsSubdomainProblems, envNameProblems } from '../built-in-formats.js';
import { child, has, number, objects, text } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkLabelName } from './labels.js';
import { checkLocalPath, checkNoBacksteps } from './paths.js';

/** Fields of a pod that may be asked for at all, whether or not they make sense in a place. */
const KNOWN_FIELDS = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
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
const FILE_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

export function checkEnvironment(problems: Problems, field: string, container: JsonObject): void {
  for (const [index, variable] of objects(container, 'env').entries()) {
    const path = `${field}.env[${index}]`;
    const name = text(variable, 'name');
    if (name === '') problems.required(`${path}.name`);
    else problems.invalidEach(`${path}.name`, name, envNameProblems(name));
    const source = child(variable, 'valueFrom');
    if (source !== undefined) checkValueFrom(problems, `${path}.valueFrom`, source, text(variable, 'value'));
  }
  for (const [index, source] of objects(container, 'envFrom').entries()) {
    checkEnvFrom(problems, `${field}.envFrom`, source, index);
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
    problems.invalid(
      field,
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    );
  } else if (value !== '') problems.invalid(field, '', 'may not be specified when `value` is not empty');
  else if (count > 1) problems.invalid(field, '', 'may not have more than one field specified at a time');
}

function checkFieldRef(problems: Problems, field: string, reference: JsonObject, allowed: readonly string[]): void {
  const path = text(reference, 'fieldPath');
  if (text(reference, 'apiVersion') === '') {
    problems.required(`${field}.apiVersion`);
    return;
  }
  if (path === '') {
    problems.required(`${field}.fieldPath`);
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
  const isCpu = resource.endsWith('.cpu');
  if (isCpu && !['1m', '1'].includes(divisor)) {
    problems.invalid(
      `${field}.divisor`,
      resource,
      "only divisor's values 1m and 1 are supported with the cpu resource",
    );
  }
  const kind = resource.endsWith('.memory')
    ? 'memory'
    : resource.endsWith('.ephemeral-storage')
      ? 'local ephemeral storage'
      : undefined;
  if (kind !== undefined && !/^1([kMGTPE]|[KMGTPE]i)?$/.test(divisor)) {
    problems.invalid(
      `${field}.divisor`,
      resource,
      `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${kind} resource`,
    );
  }
}

function checkKeyRef(problems: Problems, field: string, reference: JsonObject): void {
  const name = text(reference, 'name');
  const key = text(reference, 'key');
  problems.invalidEach(`${field}.name`, name, dnsSubdomainProblems(name));
  if (key === '') problems.required(`${field}.key`);
  else problems.invalidEach(`${field}.key`, key, configKeyProblems(key));
}

function checkFileKeyRef(problems: Problems, field: string, reference: JsonObject): void {
  const key = text(reference, 'key');
  if (key === '') problems.required(`${field}.key`);
  else problems.invalidEach(`${field}.key`, key, envNameProblems(key));
  const volume = text(reference, 'volumeName');
  if (volume === '') problems.required(`${field}.volumeName`);
  else problems.invalidEach(`${field}.volumeName`, volume, dnsLabelProblems(volume));
  const path = text(reference, 'path');
  if (path === '') problems.required(`${field}.path`);
  else checkNoBacksteps(problems, `${field}.path`, path);
}

function checkEnvFrom(problems: Problems, field: string, source: JsonObject, index: number): void {
  const path = `${field}[${index}]`;
  const prefix = text(source, 'prefix');
  problems.invalidEach(`${path}.prefix`, prefix, envNameProblems(prefix));
  const found = ['configMapRef', 'secretRef'].filter((name) => has(source, name));
  for (const each of found) {
    const name = text(child(source, each), 'name');
    if (name === '') problems.required(`${path}.${each}.name`);
    else problems.invalidEach(`${path}.${each}.name`, name, dnsSubdomainProblems(name));
  }
  if (found.length === 0) problems.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`');
  else if (found.length > 1) problems.invalid(field, '', 'may not have more than one field specified at a time');
}

/** A file of a downward API volume. */
export function checkDownwardFile(problems: Problems, field: string, file: JsonObject): void {
  const path = text(file, 'path');
  if (path === '') problems.required(`${field}.path`);
  checkLocalPath(problems, `${field}.path`, path);
  const fieldRef = child(file, 'fieldRef');
  const resource = child(file, 'resourceFieldRef');
  if (fieldRef !== undefined) {
    checkFieldRef(problems, `${field}.fieldRef`, fieldRef, FILE_FIELDS);
    if (resource !== undefined) {
      problems.invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (resource !== undefined) checkResourceFieldRef(problems, `${field}.resourceFieldRef`, resource, true);
  else problems.required(field, 'one of fieldRef and resourceFieldRef is required');
  const mode = number(file, 'mode');
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    problems.invalid(`${field}.mode`, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}
