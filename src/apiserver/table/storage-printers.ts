import type { Json, JsonObject } from '../../kube/json.js';
import { at, columns, objectsAt, textAt } from './cells.js';
import { ageCell, nameOf, simple } from './core-printers.js';
import { named } from './network-printers.js';
import type { TablePrinter } from './table.js';

const MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];
const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class';

const modesCell = (modes: Json | undefined): string => {
  const given = Array.isArray(modes) ? modes : [];
  return MODES.filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',');
};
const phaseCell = (object: JsonObject): string =>
  at(object, 'metadata', 'deletionTimestamp') === undefined ? textAt(object, 'status', 'phase') : 'Terminating';
const orUnset = (value: Json | undefined): string => (typeof value === 'string' ? value : '<unset>');
const classCell = (object: JsonObject): string =>
  textAt(object, 'metadata', 'annotations', OLD_CLASS) || textAt(object, 'spec', 'storageClassName');

export const PERSISTENT_VOLUME_PRINTER: TablePrinter = {
  columns: columns(
    'Name:name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age VolumeMode*',
  ),
  row: (object, nowMs) => {
    const claim = at(object, 'spec', 'claimRef');
    return {
      cells: [
        nameOf(object),
        textAt(object, 'spec', 'capacity', 'storage') || '0',
        modesCell(at(object, 'spec', 'accessModes')),
        textAt(object, 'spec', 'persistentVolumeReclaimPolicy'),
        phaseCell(object),
        claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`,
        classCell(object),
        orUnset(at(object, 'spec', 'volumeAttributesClassName')),
        textAt(object, 'status', 'reason'),
        ageCell(object, nowMs),
        orUnset(at(object, 'spec', 'volumeMode')),
      ],
    };
  },
};

export const PERSISTENT_VOLUME_CLAIM_PRINTER: TablePrinter = {
  columns: columns('Name:name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age VolumeMode*'),
  row: (object, nowMs) => {
    const volume = textAt(object, 'spec', 'volumeName');
    return {
      cells: [
        nameOf(object),
        phaseCell(object),
        volume,
        volume === '' ? '' : textAt(object, 'status', 'capacity', 'storage') || '0',
        volume === '' ? '' : modesCell(at(object, 'status', 'accessModes')),
        classCell(object),
        orUnset(at(object, 'spec', 'volumeAttributesClassName')),
        ageCell(object, nowMs),
        orUnset(at(object, 'spec', 'volumeMode')),
      ],
    };
  },
};

export const STORAGE_CLASS_PRINTER: TablePrinter = {
  columns: columns('Name:name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age'),
  row: (object, nowMs) => ({
    cells: [
      named(object, 'storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
      textAt(object, 'provisioner'),
      textAt(object, 'reclaimPolicy') || 'Delete',
      textAt(object, 'volumeBindingMode') || 'Immediate',
      at(object, 'allowVolumeExpansion') === true,
      ageCell(object, nowMs),
    ],
  }),
};

export const CSI_DRIVER_PRINTER = simple(
  'Name:name AttachRequired:boolean PodInfoOnMount:boolean StorageCapacity:boolean TokenRequests RequiresRepublish:boolean Modes Age',
  (object) => {
    const modes = at(object, 'spec', 'volumeLifecycleModes');
    const tokens = at(object, 'spec', 'tokenRequests');
    return [
      at(object, 'spec', 'attachRequired') !== false,
      at(object, 'spec', 'podInfoOnMount') === true,
      at(object, 'spec', 'storageCapacity') === true,
      tokens === undefined
        ? '<unset>'
        : objectsAt(object, 'spec', 'tokenRequests')
            .map((each) => textAt(each, 'audience'))
            .join(','),
      at(object, 'spec', 'requiresRepublish') === true,
      Array.isArray(modes) && modes.length > 0 ? modes.join(',') : '<none>',
    ];
  },
);

export const CSI_NODE_PRINTER = simple('Name:name Drivers:integer Age', (object) => [
  objectsAt(object, 'spec', 'drivers').length,
]);

/** Its attacher is a name as well. */
export const VOLUME_ATTACHMENT_PRINTER = simple('Name:name Attacher:name PV Node Attached:boolean Age', (object) => [
  textAt(object, 'spec', 'attacher'),
  textAt(object, 'spec', 'source', 'persistentVolumeName'),
  textAt(object, 'spec', 'nodeName'),
  at(object, 'status', 'attached') === true,
]);

export const VOLUME_ATTRIBUTES_CLASS_PRINTER = simple('Name:name DriverName Age', (object) => [
  textAt(object, 'driverName'),
]);
