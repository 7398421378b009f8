import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import { amountOf, compareAmounts, quantities } from '../amounts.js';
import { dnsSubdomainProblems, labelKeyProblems } from '../built-in-formats.js';
import { child, childOrNew, eachObject, has, number, restore, specOf, text, texts } from '../fields.js';
import {
  IMMUTABLE,
  type KindRules,
  type KindRulesTable,
  keepsDeclaredMember,
  keepsMember,
  RESET_STATUS,
  specChanges,
} from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { internalDifference } from '../spec-difference.js';
import { checkAccessModes, checkClaimSpec, VOLUME_MODES } from '../validation/claims.js';
import { checkNoBacksteps } from '../validation/paths.js';
import { checkNodeSelector } from '../validation/scheduling.js';

const phaseOf = (object: JsonObject): string => text(child(object, 'status'), 'phase');

function checkClaimUpdate(claim: JsonObject, live: JsonObject, problems: Problems): void {
  const before = specOf(live);
  const wished: JsonObject = { ...specOf(claim) };
  if (text(before, 'volumeName') === '') restore(wished, before, 'volumeName');
  // A claim without a class may still get one.
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
    problems.forbidden('spec', `${rule}\n${internalDifference(before, wished, 'PersistentVolumeClaimSpec')}`);
  }
  const size = (spec: JsonObject): string | undefined =>
    quantities(child(spec, 'resources'), 'requests').get('storage');
  const [now, old] = [size(specOf(claim)), size(before)];
  const given = quantities(child(live, 'status'), 'capacity').get('storage') ?? '0';
  if (now !== undefined && old !== undefined && compareAmounts(now, old) < 0 && compareAmounts(now, given) <= 0) {
    problems.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity');
  }
  keepsMember(problems, 'volumeMode', specOf(claim), before);
}

/** Whether `dataSource`, the older field, may name this kind. */
const isOldSource = (source: JsonObject): boolean => {
  const name = `${text(source, 'apiGroup')}/${text(source, 'kind')}`;
  return name === '/PersistentVolumeClaim' || name === 'snapshot.storage.k8s.io/VolumeSnapshot';
};

/** Writes the source of a claim to both of its fields, `dataSource` and the newer `dataSourceRef`. */
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
  prepareForUpdate: alignSources,
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
  problems.optionalFormat('spec.storageClassName', text(spec, 'storageClassName'), dnsSubdomainProblems);
  problems.optionalOneOf(spec, 'spec', 'volumeMode', VOLUME_MODES);
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
    else checkNoBacksteps(problems, `spec.${name}.path`, path);
  }
  if (name === 'nfs') {
    problems.requiredMembers(source, 'spec.nfs', 'server', 'path');
    if (!text(source, 'path').startsWith('/')) {
      problems.invalid('spec.nfs.path', text(source, 'path'), 'must be an absolute path');
    }
  }
  if (name === 'csi') problems.requiredMembers(source, 'spec.csi', 'driver', 'volumeHandle');
  if (name === 'local' && !has(child(spec, 'nodeAffinity'), 'required')) {
    problems.required('spec.nodeAffinity', 'Local volume requires node affinity');
  }
}

/** Sets the time of the last transition where the phase has changed. */
function setTransitionTime(volume: JsonObject, live: JsonObject | undefined, now: string): void {
  const status = childOrNew(volume, 'status');
  const before = child(live, 'status');
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
    setTransitionTime(volume, undefined, now);
  },
  validate: checkVolume,
  validateUpdate: (volume, live, problems) => {
    const source = (spec: JsonObject): JsonObject =>
      Object.fromEntries(SOURCES.filter((name) => has(spec, name)).map((name) => [name, spec[name]!]));
    const [now, before] = [source(specOf(volume)), source(specOf(live))];
    if (!jsonEqual(now, before)) {
      const rule = 'spec.persistentvolumesource is immutable after creation';
      const difference = internalDifference(before, now, 'PersistentVolumeSource');
      problems.forbidden('spec.persistentvolumesource', `${rule}\n${difference}`);
    }
    keepsMember(problems, 'volumeMode', specOf(volume), specOf(live));
  },
  parts: {
    status: {
      prepareForUpdate: (volume, live, { now }) => {
        restore(volume, live, 'spec');
        setTransitionTime(volume, live, now);
      },
    },
  },
};

const STORAGE_CLASSES: KindRules = {
  validate: (object, problems, _around, live) => {
    problems.requiredFormat('provisioner', text(object, 'provisioner'), (name) => labelKeyProblems(name.toLowerCase()));
    const parameters = child(object, 'parameters') ?? {};
    if (Object.hasOwn(parameters, '')) problems.invalid('parameters', '', 'field can not be empty.');
    if (live !== undefined) return;
    problems.oneOf('reclaimPolicy', text(object, 'reclaimPolicy'), ['Delete', 'Retain']);
    problems.oneOf('volumeBindingMode', text(object, 'volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']);
  },
  validateUpdate: (object, live, problems, { surface }) => {
    for (const name of ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']) {
      if (surface.minor >= 36) keepsDeclaredMember(problems, name, object, live, surface);
      else if (!jsonEqual(object[name], live[name])) problems.forbidden(name, `updates to ${name} are forbidden.`);
    }
  },
};

const DRIVERS: KindRules = {
  updatesUnconditionally: false,
  prepareForUpdate: (object, live) => {
    const before = number(child(live, 'metadata'), 'generation') ?? 0;
    // CSIDrivers get a generation with their first change.
    const generation = specChanges(object, live) ? before + 1 : before;
    if (generation > 0) childOrNew(object, 'metadata')['generation'] = generation;
  },
  validate: (object, problems) => {
    const spec = specOf(object);
    if (!has(spec, 'attachRequired')) problems.required('spec.attachedRequired');
    if (!has(spec, 'podInfoOnMount')) problems.required('spec.podInfoOnMount');
    problems.optionalOneOf(spec, 'spec', 'fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType']);
    for (const mode of texts(spec, 'volumeLifecycleModes')) {
      problems.oneOf('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']);
    }
  },
  validateUpdate: (object, live, problems) => {
    keepsMember(problems, 'spec.attachedRequired', specOf(object), specOf(live), 'attachRequired');
    keepsMember(problems, 'spec.volumeLifecycleModes', specOf(object), specOf(live));
  },
};

const CSI_NODES: KindRules = {
  updatesUnconditionally: false,
  validate: (object, problems) => {
    const names = new Set<string>();
    for (const [field, driver] of eachObject(specOf(object), 'spec', 'drivers')) {
      const name = text(driver, 'name');
      problems.requiredFormat(`${field}.name`, name, dnsSubdomainProblems);
      problems.unique(`${field}.name`, name, names);
      problems.requiredMembers(driver, field, 'nodeID');
      problems.nonNegative(`${field}.allocatable.count`, number(child(driver, 'allocatable'), 'count'));
      const keys = new Set<string>();
      for (const key of texts(driver, 'topologyKeys')) {
        if (key === '') problems.required(field);
        problems.unique(field, key, keys);
        problems.format(field, key, labelKeyProblems);
      }
    }
  },
};

const ATTACHMENTS: KindRules = {
  updatesUnconditionally: false,
  validate: (object, problems) => {
    const spec = specOf(object);
    const source = child(spec, 'source') ?? {};
    problems.requiredMembers(spec, 'spec', 'attacher');
    const hasName = text(source, 'persistentVolumeName') !== '';
    if (!hasName && !has(source, 'inlineVolumeSpec')) {
      problems.required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName');
    } else if (hasName && has(source, 'inlineVolumeSpec')) {
      problems.forbidden('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName');
    }
    problems.format('spec.nodeName', text(spec, 'nodeName'), dnsSubdomainProblems);
  },
  validateUpdate: (object, live, problems, { surface }) => {
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
    problems.invalid('spec', surface.minor >= 37 ? null : printed, IMMUTABLE);
  },
  parts: { status: RESET_STATUS },
};

const ATTRIBUTES_CLASSES: KindRules = {
  validate: (object, problems, _around, live) => {
    problems.requiredFormat('driverName', text(object, 'driverName'), (name) =>
      dnsSubdomainProblems(name.toLowerCase()),
    );
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
