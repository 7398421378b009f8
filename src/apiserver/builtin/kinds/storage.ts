import { type Json, type JsonObject, jsonEqual } from '../../../kube/json.js';
import { amountOf, compareAmounts, quantities } from '../amounts.js';
import { dnsSubdomainProblems, labelKeyProblems } from '../built-in-formats.js';
import { child, childOrNew, has, number, objects, restore, text, texts } from '../fields.js';
import { internalForm } from '../internal-form.js';
import { IMMUTABLE, type KindRules, type KindRulesTable, keepsMember, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { differenceText } from '../spec-difference.js';
import { checkAccessModes, checkClaimSpec, VOLUME_MODES } from '../validation/claims.js';
import { checkNodeSelector } from '../validation/scheduling.js';

const specOf = (object: JsonObject): JsonObject => child(object, 'spec') ?? {};
const phaseOf = (object: JsonObject): string => text(child(object, 'status'), 'phase');

const printedSpecs = (before: JsonObject, now: JsonObject): [Json, Json] => [
  internalForm(before, 'PersistentVolumeClaimSpec'),
  internalForm(now, 'PersistentVolumeClaimSpec'),
];

function checkClaimUpdate(claim: JsonObject, live: JsonObject, problems: Problems): void {
  const before = specOf(live);
  const wished: JsonObject = { ...specOf(claim) };
  if (text(before, 'volumeName') === '') restore(wished, before, 'volumeName');
  // A class may still be found for what had none.
  if (!has(before, 'storageClassName')) restore(wished, before, 'storageClassName');
  if (phaseOf(claim) === 'Bound') {
    restore(wished, before, 'volumeAttributesClassName');
    const resources: JsonObject = { ...child(wished, 'resources') };
    const requests: JsonObject = { ...child(resources, 'requests') };
    restore(requests, child(child(before, 'resources'), 'requests') ?? {}, 'storage');
    wished['resources'] = { ...resources, requests };
  }
  if (!jsonEqual(wished, before)) {
    const rule =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    problems.forbidden('spec', `${rule}\n${differenceText(...printedSpecs(before, wished))}`);
  }
  const size = (spec: JsonObject): string | undefined =>
    quantities(child(spec, 'resources'), 'requests').get('storage');
  const [now, old] = [size(specOf(claim)), size(before)];
  const given = quantities(child(live, 'status'), 'capacity').get('storage') ?? '0';
  if (now !== undefined && old !== undefined && compareAmounts(now, old) < 0 && compareAmounts(now, given) <= 0) {
    problems.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity');
  }
  keepsMember(problems, { object: specOf(claim), live: before, path: 'volumeMode', name: 'volumeMode' });
}

/** Kinds that the older of both fields may name. */
const isOldSource = (source: JsonObject): boolean => {
  const name = `${text(source, 'apiGroup')}/${text(source, 'kind')}`;
  return name === '/PersistentVolumeClaim' || name === 'snapshot.storage.k8s.io/VolumeSnapshot';
};

/** Where the content comes from has an old name and a new one, and is written under both. */
function alignSources(claim: JsonObject): void {
  const spec = childOrNew(claim, 'spec');
  const source = child(spec, 'dataSource');
  const reference = child(spec, 'dataSourceRef');
  const bare = (each: JsonObject): JsonObject => ({
    apiGroup: each['apiGroup'] ?? null,
    kind: text(each, 'kind'),
    name: text(each, 'name'),
  });
  if (source !== undefined && reference === undefined) {
    if (isOldSource(source)) spec['dataSourceRef'] = bare(source);
    else delete spec['dataSource'];
  } else if (reference !== undefined && source === undefined && text(reference, 'namespace') === '') {
    spec['dataSource'] = bare(reference);
  }
}

const CLAIMS: KindRules = {
  prepareForCreate: (claim) => {
    claim['status'] = { phase: 'Pending' };
    alignSources(claim);
  },
  prepareForUpdate: (claim) => alignSources(claim),
  validate: (claim, problems) => checkClaimSpec(problems, 'spec', specOf(claim)),
  validateUpdate: checkClaimUpdate,
};

const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
];

function checkVolume(volume: JsonObject, problems: Problems): void {
  const spec = specOf(volume);
  const modes = texts(spec, 'accessModes');
  if (modes.length === 0) problems.required('spec.accessModes');
  checkAccessModes(problems, 'spec.accessModes', modes);
  const capacity = child(spec, 'capacity');
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) problems.required('spec.capacity');
  if (names.length !== 1 || names[0] !== 'storage') problems.unsupported('spec.capacity', capacity, ['storage']);
  for (const name of names) {
    const amount = amountOf(capacity![name]);
    if (amount === undefined || amount.billionths > 0n) continue;
    problems.invalid(`spec.capacity[${name}]`, capacity![name], 'must be greater than zero');
  }
  const policy = text(spec, 'persistentVolumeReclaimPolicy');
  problems.oneOf('spec.persistentVolumeReclaimPolicy', policy, ['Delete', 'Recycle', 'Retain']);
  const required = child(child(spec, 'nodeAffinity'), 'required');
  if (required !== undefined) checkNodeSelector(problems, 'spec.nodeAffinity.required', required);
  else if (has(spec, 'nodeAffinity'))
    problems.required('spec.nodeAffinity.required', 'must specify required node constraints');
  checkVolumeSource(problems, spec);
  const className = text(spec, 'storageClassName');
  if (className !== '') problems.invalidEach('spec.storageClassName', className, dnsSubdomainProblems(className));
  if (has(spec, 'volumeMode')) problems.oneOf('spec.volumeMode', text(spec, 'volumeMode'), VOLUME_MODES);
}

function checkVolumeSource(problems: Problems, spec: JsonObject): void {
  const found = SOURCES.filter((name) => has(spec, name));
  if (found.length === 0) problems.required('spec', 'must specify a volume type');
  for (const name of found.slice(1)) problems.forbidden(`spec.${name}`, 'may not specify more than 1 volume type');
  const [name] = found;
  if (name === undefined) return;
  const source = child(spec, name)!;
  if (name === 'hostPath' || name === 'local') {
    const path = text(source, 'path');
    if (path === '') problems.required(`spec.${name}.path`);
    else if (path.split('/').includes('..')) problems.invalid(`spec.${name}.path`, path, "must not contain '..'");
  }
  if (name === 'nfs') {
    for (const each of ['server', 'path']) if (text(source, each) === '') problems.required(`spec.nfs.${each}`);
    if (!text(source, 'path').startsWith('/')) {
      problems.invalid('spec.nfs.path', text(source, 'path'), 'must be an absolute path');
    }
  }
  if (name === 'csi') {
    for (const each of ['driver', 'volumeHandle']) if (text(source, each) === '') problems.required(`spec.csi.${each}`);
  }
  if (name === 'local' && !has(child(spec, 'nodeAffinity'), 'required')) {
    problems.required('spec.nodeAffinity', 'Local volume requires node affinity');
  }
}

/** When a volume came to where it is. */
function notePhase(volume: JsonObject, live: JsonObject | undefined, now: string): void {
  const status = childOrNew(volume, 'status');
  const before = live === undefined ? undefined : child(live, 'status');
  if (
    phaseOf(volume) !== text(before, 'phase') &&
    text(status, 'lastPhaseTransitionTime') === text(before, 'lastPhaseTransitionTime')
  ) {
    status['lastPhaseTransitionTime'] = now;
  }
}

const VOLUMES: KindRules = {
  prepareForCreate: (volume, { now }) => {
    volume['status'] = { phase: 'Pending' };
    notePhase(volume, undefined, now);
  },
  validate: (volume, problems) => checkVolume(volume, problems),
  validateUpdate: (volume, live, problems) => {
    const source = (spec: JsonObject): JsonObject =>
      Object.fromEntries(SOURCES.filter((name) => has(spec, name)).map((name) => [name, spec[name]!]));
    const [now, before] = [source(specOf(volume)), source(specOf(live))];
    if (!jsonEqual(now, before)) {
      const rule = 'spec.persistentvolumesource is immutable after creation';
      problems.forbidden(
        'spec.persistentvolumesource',
        `${rule}\n${differenceText(internalForm(before, 'PersistentVolumeSource'), internalForm(now, 'PersistentVolumeSource'))}`,
      );
    }
    keepsMember(problems, { object: specOf(volume), live: specOf(live), path: 'volumeMode', name: 'volumeMode' });
  },
  parts: {
    status: {
      prepareForUpdate: (volume, live, { now }) => {
        restore(volume, live, 'spec');
        notePhase(volume, live, now);
      },
    },
  },
};

const STORAGE_CLASSES: KindRules = {
  validate: (object, problems, _around, live) => {
    const provisioner = text(object, 'provisioner');
    if (provisioner === '') problems.required('provisioner');
    else problems.invalidEach('provisioner', provisioner, labelKeyProblems(provisioner.toLowerCase()));
    const parameters = child(object, 'parameters') ?? {};
    if (Object.hasOwn(parameters, '')) problems.invalid('parameters', '', 'field can not be empty.');
    if (live !== undefined) return;
    problems.oneOf('reclaimPolicy', text(object, 'reclaimPolicy'), ['Delete', 'Retain']);
    problems.oneOf('volumeBindingMode', text(object, 'volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']);
  },
  validateUpdate: (object, live, problems) => {
    for (const name of ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']) {
      keepsMember(problems, { object, live, path: name, name });
    }
  },
};

const DRIVERS: KindRules = {
  updatesUnconditionally: false,
  prepareForUpdate: (object, live) => {
    const before = number(child(live, 'metadata'), 'generation') ?? 0;
    // Counted only from the first change on.
    const generation = specChanges(object, live) ? before + 1 : before;
    if (generation > 0) childOrNew(object, 'metadata')['generation'] = generation;
  },
  validate: (object, problems) => {
    const spec = specOf(object);
    if (!has(spec, 'attachRequired')) problems.required('spec.attachedRequired');
    if (!has(spec, 'podInfoOnMount')) problems.required('spec.podInfoOnMount');
    if (has(spec, 'fsGroupPolicy')) {
      problems.oneOf('spec.fsGroupPolicy', text(spec, 'fsGroupPolicy'), ['File', 'None', 'ReadWriteOnceWithFSType']);
    }
    for (const mode of texts(spec, 'volumeLifecycleModes')) {
      problems.oneOf('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']);
    }
  },
  validateUpdate: (object, live, problems) => {
    for (const [name, path] of [
      ['attachRequired', 'attachedRequired'],
      ['volumeLifecycleModes', 'volumeLifecycleModes'],
    ] as const) {
      keepsMember(problems, { object: specOf(object), live: specOf(live), path: `spec.${path}`, name });
    }
  },
};

const CSI_NODES: KindRules = {
  updatesUnconditionally: false,
  validate: (object, problems) => {
    const names = new Set<string>();
    for (const [index, driver] of objects(specOf(object), 'drivers').entries()) {
      const field = `spec.drivers[${index}]`;
      const name = text(driver, 'name');
      if (name === '') problems.required(`${field}.name`);
      else problems.invalidEach(`${field}.name`, name, dnsSubdomainProblems(name));
      if (names.has(name)) problems.duplicate(`${field}.name`, name);
      names.add(name);
      if (text(driver, 'nodeID') === '') problems.required(`${field}.nodeID`);
      problems.nonNegative(`${field}.allocatable.count`, number(child(driver, 'allocatable'), 'count'));
      const keys = new Set<string>();
      for (const key of texts(driver, 'topologyKeys')) {
        if (key === '') problems.required(field);
        if (keys.has(key)) problems.duplicate(field, key);
        keys.add(key);
        problems.invalidEach(field, key, labelKeyProblems(key));
      }
    }
  },
};

const ATTACHMENTS: KindRules = {
  updatesUnconditionally: false,
  validate: (object, problems) => {
    const spec = specOf(object);
    const source = child(spec, 'source') ?? {};
    if (text(spec, 'attacher') === '') problems.required('spec.attacher');
    const hasName = text(source, 'persistentVolumeName') !== '';
    if (!hasName && !has(source, 'inlineVolumeSpec')) {
      problems.required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName');
    } else if (hasName && has(source, 'inlineVolumeSpec')) {
      problems.forbidden('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName');
    }
    problems.invalidEach('spec.nodeName', text(spec, 'nodeName'), dnsSubdomainProblems(text(spec, 'nodeName')));
  },
  validateUpdate: (object, live, problems) => {
    const spec = specOf(object);
    if (jsonEqual(spec, specOf(live))) return;
    const source = child(spec, 'source') ?? {};
    const printed = {
      Attacher: text(spec, 'attacher'),
      Source: {
        PersistentVolumeName: source['persistentVolumeName'] ?? null,
        InlineVolumeSpec: source['inlineVolumeSpec'] ?? null,
      },
      NodeName: text(spec, 'nodeName'),
    };
    problems.invalid('spec', printed, IMMUTABLE);
  },
  parts: { status: { keptMetadata: 'all', ignoredPaths: ['f:metadata', 'f:spec'] } },
};

const ATTRIBUTES_CLASSES: KindRules = {
  validate: (object, problems, _around, live) => {
    const driver = text(object, 'driverName');
    if (driver === '') problems.required('driverName');
    else problems.invalidEach('driverName', driver, dnsSubdomainProblems(driver.toLowerCase()));
    if (Object.keys(child(object, 'parameters') ?? {}).length === 0) {
      problems.required('parameters', 'must contain at least one key/value pair');
    }
    if (live === undefined) return;
    for (const name of ['driverName', 'parameters']) {
      if (!jsonEqual(object[name], live[name])) problems.forbidden(name, `updates to ${name} are forbidden.`);
    }
  },
};

export const STORAGE_RULES: KindRulesTable = {
  '/persistentvolumeclaims': CLAIMS,
  '/persistentvolumes': VOLUMES,
  'storage.k8s.io/storageclasses': STORAGE_CLASSES,
  'storage.k8s.io/csidrivers': DRIVERS,
  'storage.k8s.io/csinodes': CSI_NODES,
  'storage.k8s.io/volumeattachments': ATTACHMENTS,
  'storage.k8s.io/volumeattributesclasses': ATTRIBUTES_CLASSES,
  'storage.k8s.io/csistoragecapacities': { updatesUnconditionally: false },
};
