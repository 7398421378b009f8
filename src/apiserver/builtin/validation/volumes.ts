import type { JsonObject } from '../../../kube/json.js';
import { amountOf } from '../amounts.js';
import { dnsLabelProblems } from '../built-in-formats.js';
import { child, eachObject, flag, has, number, objects, specOf, text } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkClaimSpec } from './claims.js';
import { checkDownwardFile, checkFileMode } from './environment.js';
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

/** Checks the volumes of a pod; returns those without problems, by name. */
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
  for (const [path, volume] of eachObject(spec, field, 'volumes')) {
    const name = text(volume, 'name');
    const before = problems.count;
    checkSource(problems, path, volume);
    problems.requiredFormat(`${path}.name`, name, dnsLabelProblems);
    if (good.has(name)) problems.duplicate(`${path}.name`, name);
    if (problems.count === before) good.set(name, volume);
    const claimName = text(child(volume, 'persistentVolumeClaim'), 'claimName');
    if (podName !== '' && has(volume, 'persistentVolumeClaim') && claimsToCome.has(claimName)) {
      const rule = 'must not reference a PVC that gets created for an ephemeral volume';
      problems.invalid(`${path}.persistentVolumeClaim.claimName`, claimName, rule);
    }
  }
  return good;
}

type SourceCheck = (problems: Problems, field: string, source: JsonObject) => void;

const needs =
  (...names: readonly string[]): SourceCheck =>
  (problems, field, source) =>
    problems.requiredMembers(source, field, ...names);

/** In the order in which kube-apiserver checks them: all but the first one found are refused. */
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
      checkFileMode(problems, source, field, 'defaultMode');
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
      else checkClaimSpec(problems, `${field}.volumeClaimTemplate.spec`, specOf(template));
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
  problems.optionalOneOf(source, field, 'type', HOST_PATH_TYPES);
}

function checkNfs(problems: Problems, field: string, source: JsonObject): void {
  problems.requiredMembers(source, field, 'server', 'path');
  const path = text(source, 'path');
  if (!path.startsWith('/')) problems.invalid(`${field}.path`, path, 'must be an absolute path');
}

function checkFiles(problems: Problems, field: string, source: JsonObject, nameField: string): void {
  problems.requiredMembers(source, field, nameField);
  checkFileMode(problems, source, field, 'defaultMode');
  checkItems(problems, field, source);
}

function checkItems(problems: Problems, field: string, source: JsonObject): void {
  for (const [path, item] of eachObject(source, field, 'items')) {
    problems.requiredMembers(item, path, 'key', 'path');
    checkLocalPath(problems, `${path}.path`, text(item, 'path'));
    checkFileMode(problems, item, path, 'mode');
  }
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
  checkFileMode(problems, source, field, 'defaultMode');
  for (const [path, each] of eachObject(source, field, 'sources')) {
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
    problems.requiredMembers(source, field, 'name');
    checkItems(problems, field, source);
  } else if (name === 'downwardAPI') {
    for (const file of objects(source, 'items')) checkDownwardFile(problems, field, file);
  } else if (name === 'serviceAccountToken') {
    const seconds = number(source, 'expirationSeconds') ?? 0;
    if (seconds < 600)
      problems.invalid(`${field}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > 2 ** 32)
      problems.invalid(`${field}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds');
    // kube-apiserver reports the path of the volume here, not that of the source.
    problems.requiredMembers(source, volume, 'path');
  }
}

/** Checks the mounts and the block devices of a container. */
export function checkMounts(
  problems: Problems,
  field: string,
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
): void {
  const devices = objects(container, 'volumeDevices');
  const paths = new Set<string>();
  const deviceNames = new Set(devices.map((each) => text(each, 'name')));
  const devicePaths = new Set(devices.map((each) => text(each, 'devicePath')));
  for (const [path, mount] of eachObject(container, field, 'volumeMounts')) {
    const name = text(mount, 'name');
    const where = text(mount, 'mountPath');
    problems.requiredMembers(mount, path, 'name');
    if (!volumes.has(name)) problems.notFound(`${path}.name`, name);
    problems.requiredMembers(mount, path, 'mountPath');
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
  checkDevices(problems, field, container, volumes);
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
      const rule = 'Bidirectional mount propagation is available only to privileged containers';
      problems.forbidden(`${field}.mountPropagation`, rule);
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
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [path, device] of eachObject(container, field, 'volumeDevices')) {
    const name = text(device, 'name');
    const where = text(device, 'devicePath');
    const volume = volumes.get(name);
    problems.requiredMembers(device, path, 'name');
    if (names.has(name)) problems.invalid(`${path}.name`, name, 'must be unique');
    if (volume === undefined) problems.notFound(`${path}.name`, name);
    else if (!has(volume, 'persistentVolumeClaim') && !has(volume, 'ephemeral')) {
      const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      problems.invalid(`${path}.name`, name, rule);
    }
    problems.requiredMembers(device, path, 'devicePath');
    if (paths.has(where)) problems.invalid(`${path}.devicePath`, where, 'must be unique');
    if (where.split('/').includes('..'))
      problems.invalid(`${path}.devicePath`, where, "can not contain backsteps ('..')");
    names.add(name);
    paths.add(where);
  }
}
