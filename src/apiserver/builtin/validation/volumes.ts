import type { JsonObject } from '../../../kube/json.js';
import { amountOf } from '../amounts.js';
import { dnsLabelProblems } from '../built-in-formats.js';
import { child, flag, has, number, objects, text } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkClaimSpec } from './claims.js';
import { checkDownwardFile } from './environment.js';
import { checkDescending, checkLocalPath, checkNoBacksteps } from './paths.js';

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const FILE_MODE_RULE = 'must be a number between 0 and 0777 (octal), both inclusive';

/** The volumes that are as they should be, by name. */
export function checkVolumes(
  problems: Problems,
  field: string,
  spec: JsonObject,
  podName: string,
): ReadonlyMap<string, JsonObject> {
  const volumes = objects(spec, 'volumes');
  const claimsToCome = new Set(
    volumes.filter((each) => has(each, 'ephemeral')).map((each) => `${podName}-${text(each, 'name')}`),
  );
  const good = new Map<string, JsonObject>();
  for (const [index, volume] of volumes.entries()) {
    const path = `${field}[${index}]`;
    const name = text(volume, 'name');
    const before = problems.count;
    checkSource(problems, path, volume);
    if (name === '') problems.required(`${path}.name`);
    else problems.invalidEach(`${path}.name`, name, dnsLabelProblems(name));
    if (good.has(name)) problems.duplicate(`${path}.name`, name);
    if (problems.count === before) good.set(name, volume);
    const claimName = text(child(volume, 'persistentVolumeClaim'), 'claimName');
    if (podName !== '' && has(volume, 'persistentVolumeClaim') && claimsToCome.has(claimName)) {
      problems.invalid(
        `${path}.persistentVolumeClaim.claimName`,
        claimName,
        'must not reference a PVC that gets created for an ephemeral volume',
      );
    }
  }
  return good;
}

type SourceCheck = (problems: Problems, field: string, source: JsonObject) => void;

const needs =
  (...names: readonly string[]): SourceCheck =>
  (problems, field, source) => {
    for (const name of names) {
      const value = source[name];
      if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) {
        problems.required(`${field}.${name}`);
      }
    }
  };

/** In the order in which more than one is complained about. */
const SOURCES: readonly (readonly [name: string, check: SourceCheck])[] = [
  [
    'emptyDir',
    (problems, field, source) => {
      const limit = amountOf(source['sizeLimit']);
      if (limit !== undefined && limit.billionths < 0n) {
        problems.forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
      }
    },
  ],
  ['hostPath', checkHostPath],
  ['gitRepo', needs('repository')],
  ['gcePersistentDisk', needs('pdName')],
  ['awsElasticBlockStore', needs('volumeID')],
  ['secret', (problems, field, source) => checkFiles(problems, field, source, 'secretName')],
  ['nfs', checkNfs],
  ['iscsi', needs('targetPortal', 'iqn')],
  ['glusterfs', needs('endpoints', 'path')],
  ['flocker', () => {}],
  ['persistentVolumeClaim', needs('claimName')],
  ['rbd', needs('monitors', 'image')],
  ['cinder', needs('volumeID')],
  ['cephfs', needs('monitors')],
  ['quobyte', needs('registry', 'volume')],
  [
    'downwardAPI',
    (problems, field, source) => {
      checkMode(problems, `${field}.defaultMode`, number(source, 'defaultMode'));
      for (const file of objects(source, 'items')) checkDownwardFile(problems, field, file);
    },
  ],
  ['fc', () => {}],
  ['flexVolume', needs('driver')],
  ['configMap', (problems, field, source) => checkFiles(problems, field, source, 'name')],
  ['azureFile', needs('secretName', 'shareName')],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', needs('diskName', 'diskURI')],
  ['storageos', () => {}],
  ['projected', checkProjected],
  ['scaleIO', needs('gateway', 'system', 'volumeName')],
  ['csi', needs('driver')],
  [
    'ephemeral',
    (problems, field, source) => {
      const template = child(source, 'volumeClaimTemplate');
      if (template === undefined) problems.required(`${field}.volumeClaimTemplate`);
      else checkClaimSpec(problems, `${field}.volumeClaimTemplate.spec`, child(template, 'spec') ?? {});
    },
  ],
  ['image', () => {}],
];

function checkSource(problems: Problems, field: string, volume: JsonObject): void {
  let count = 0;
  for (const [name, check] of SOURCES) {
    const source = child(volume, name);
    if (source === undefined) continue;
    if (count++ > 0) problems.forbidden(`${field}.${name}`, 'may not specify more than 1 volume type');
    else check(problems, `${field}.${name}`, source);
  }
  if (count === 0) problems.required(field, 'must specify a volume type');
}

function checkHostPath(problems: Problems, field: string, source: JsonObject): void {
  const path = text(source, 'path');
  if (path === '') {
    problems.required(`${field}.path`);
    return;
  }
  checkNoBacksteps(problems, `${field}.path`, path);
  if (has(source, 'type')) problems.oneOf(`${field}.type`, text(source, 'type'), HOST_PATH_TYPES);
}

function checkNfs(problems: Problems, field: string, source: JsonObject): void {
  needs('server', 'path')(problems, field, source);
  const path = text(source, 'path');
  if (!path.startsWith('/')) problems.invalid(`${field}.path`, path, 'must be an absolute path');
}

function checkFiles(problems: Problems, field: string, source: JsonObject, nameField: string): void {
  if (text(source, nameField) === '') problems.required(`${field}.${nameField}`);
  checkMode(problems, `${field}.defaultMode`, number(source, 'defaultMode'));
  checkItems(problems, `${field}.items`, source);
}

function checkItems(problems: Problems, field: string, source: JsonObject): void {
  for (const [index, item] of objects(source, 'items').entries()) {
    const path = `${field}[${index}]`;
    if (text(item, 'key') === '') problems.required(`${path}.key`);
    if (text(item, 'path') === '') problems.required(`${path}.path`);
    checkLocalPath(problems, `${path}.path`, text(item, 'path'));
    checkMode(problems, `${path}.mode`, number(item, 'mode'));
  }
}

function checkMode(problems: Problems, field: string, mode: number | undefined): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) problems.invalid(field, mode, FILE_MODE_RULE);
}

const PROJECTIONS = [
  'secret',
  'downwardAPI',
  'configMap',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
];

function checkProjected(problems: Problems, field: string, source: JsonObject): void {
  checkMode(problems, `${field}.defaultMode`, number(source, 'defaultMode'));
  for (const [index, each] of objects(source, 'sources').entries()) {
    const path = `${field}.sources[${index}]`;
    const found = PROJECTIONS.filter((name) => has(each, name));
    if (found.length > 1) problems.forbidden(path, 'may not specify more than 1 volume type per source');
    for (const name of found) checkProjection(problems, path, { name, source: child(each, name)!, volume: field });
  }
}

function checkProjection(
  problems: Problems,
  path: string,
  { name, source, volume }: { name: string; source: JsonObject; volume: string },
): void {
  const field = `${path}.${name}`;
  if (name === 'secret' || name === 'configMap') {
    if (text(source, 'name') === '') problems.required(`${field}.name`);
    checkItems(problems, `${field}.items`, source);
  } else if (name === 'downwardAPI') {
    for (const file of objects(source, 'items')) checkDownwardFile(problems, field, file);
  } else if (name === 'serviceAccountToken') {
    const seconds = number(source, 'expirationSeconds') ?? 0;
    if (seconds < 600)
      problems.invalid(`${field}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > 2 ** 32)
      problems.invalid(`${field}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds');
    // Told of the volume, not of its source.
    if (text(source, 'path') === '') problems.required(`${volume}.path`);
  }
}

/** What a container mounts, and which of the pod's devices it uses. */
export function checkMounts(
  problems: Problems,
  field: string,
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
): void {
  const mounts = objects(container, 'volumeMounts');
  const devices = objects(container, 'volumeDevices');
  const paths = new Set<string>();
  const deviceNames = new Set(devices.map((each) => text(each, 'name')));
  const devicePaths = new Set(devices.map((each) => text(each, 'devicePath')));
  for (const [index, mount] of mounts.entries()) {
    const path = `${field}.volumeMounts[${index}]`;
    const name = text(mount, 'name');
    const where = text(mount, 'mountPath');
    if (name === '') problems.required(`${path}.name`);
    if (!volumes.has(name)) problems.notFound(`${path}.name`, name);
    if (where === '') problems.required(`${path}.mountPath`);
    if (paths.has(where)) problems.invalid(`${path}.mountPath`, where, 'must be unique');
    paths.add(where);
    if (deviceNames.has(name)) {
      problems.invalid(`${path}.name`, name, 'must not already exist in volumeDevices');
    }
    if (devicePaths.has(where)) {
      problems.invalid(`${path}.mountPath`, where, 'must not already exist as a path in volumeDevices');
    }
    checkMountOptions(problems, `${field}.volumeMounts`, mount, { path, container });
  }
  checkDevices(problems, `${field}.volumeDevices`, devices, volumes);
}

function checkMountOptions(
  problems: Problems,
  field: string,
  mount: JsonObject,
  { path, container }: { path: string; container: JsonObject },
): void {
  const subPath = text(mount, 'subPath');
  const expression = text(mount, 'subPathExpr');
  if (subPath !== '') checkDescending(problems, `${field}.subPath`, subPath);
  if (expression !== '') {
    if (subPath !== '') {
      problems.invalid(`${path}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive');
    }
    checkDescending(problems, `${field}.subPathExpr`, expression);
  }
  const propagation = text(mount, 'mountPropagation');
  if (propagation !== '') {
    problems.oneOf(`${field}.mountPropagation`, propagation, ['Bidirectional', 'HostToContainer', 'None']);
    if (propagation === 'Bidirectional' && !flag(child(container, 'securityContext'), 'privileged')) {
      problems.forbidden(
        `${field}.mountPropagation`,
        'Bidirectional mount propagation is available only to privileged containers',
      );
    }
  }
  const recursive = text(mount, 'recursiveReadOnly');
  if (recursive === '' || recursive === 'Disabled') return;
  if (recursive !== 'Enabled' && recursive !== 'IfPossible') {
    problems.unsupported(`${field}.recursiveReadOnly`, recursive, ['Disabled', 'Enabled', 'IfPossible']);
  } else if (!flag(mount, 'readOnly')) {
    problems.forbidden(`${field}.recursiveReadOnly`, 'may only be specified when readOnly is true');
  }
}

function checkDevices(
  problems: Problems,
  field: string,
  devices: readonly JsonObject[],
  volumes: ReadonlyMap<string, JsonObject>,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, device] of devices.entries()) {
    const path = `${field}[${index}]`;
    const name = text(device, 'name');
    const where = text(device, 'devicePath');
    const volume = volumes.get(name);
    if (name === '') problems.required(`${path}.name`);
    if (names.has(name)) problems.invalid(`${path}.name`, name, 'must be unique');
    if (volume === undefined) problems.notFound(`${path}.name`, name);
    else if (!has(volume, 'persistentVolumeClaim') && !has(volume, 'ephemeral')) {
      problems.invalid(
        `${path}.name`,
        name,
        'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      );
    }
    if (where === '') problems.required(`${path}.devicePath`);
    if (paths.has(where)) problems.invalid(`${path}.devicePath`, where, 'must be unique');
    if (where.split('/').includes('..'))
      problems.invalid(`${path}.devicePath`, where, "can not contain backsteps ('..')");
    names.add(name);
    paths.add(where);
  }
}
