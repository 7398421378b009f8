import type { Json, JsonObject } from '../../kube/json.js';
import { at, joined, nameAndDefault, objectsAt, orNone, type PrinterTable, printer, textAt, textsAt } from './cells.js';

const MODES = { ReadWriteOnce: 'RWO', ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' };
const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class';

const modesCell = (modes: readonly string[]): string =>
  Object.entries(MODES)
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
const phaseCell = (object: JsonObject): string =>
  at(object, 'metadata', 'deletionTimestamp') === undefined ? textAt(object, 'status', 'phase') : 'Terminating';
const orUnset = (value: Json | undefined): string => (typeof value === 'string' ? value : '<unset>');
const classCell = (object: JsonObject): string =>
  textAt(object, 'metadata', 'annotations', OLD_CLASS) || textAt(object, 'spec', 'storageClassName');

export const STORAGE_PRINTERS: PrinterTable = {
  '/persistentvolumes': printer(
    'Name:name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age VolumeMode*',
    (object) => {
      const claim = at(object, 'spec', 'claimRef');
      return [
        textAt(object, 'spec', 'capacity', 'storage') || '0',
        modesCell(textsAt(object, 'spec', 'accessModes')),
        textAt(object, 'spec', 'persistentVolumeReclaimPolicy'),
        phaseCell(object),
        claim === undefined ? '' : joined(claim, 'namespace'),
        classCell(object),
        orUnset(at(object, 'spec', 'volumeAttributesClassName')),
        textAt(object, 'status', 'reason'),
        orUnset(at(object, 'spec', 'volumeMode')),
      ];
    },
  ),
  '/persistentvolumeclaims': printer(
    'Name:name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age VolumeMode*',
    (object) => {
      const volume = textAt(object, 'spec', 'volumeName');
      return [
        phaseCell(object),
        volume,
        volume === '' ? '' : textAt(object, 'status', 'capacity', 'storage') || '0',
        volume === '' ? '' : modesCell(textsAt(object, 'status', 'accessModes')),
        classCell(object),
        orUnset(at(object, 'spec', 'volumeAttributesClassName')),
        orUnset(at(object, 'spec', 'volumeMode')),
      ];
    },
  ),
  'storage.k8s.io/storageclasses': printer(
    'Name:name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age',
    (object) => [
      textAt(object, 'provisioner'),
      textAt(object, 'reclaimPolicy') || 'Delete',
      textAt(object, 'volumeBindingMode') || 'Immediate',
      at(object, 'allowVolumeExpansion') === true,
    ],
    nameAndDefault('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
  ),
  'storage.k8s.io/csidrivers': printer(
    'Name:name AttachRequired:boolean PodInfoOnMount:boolean StorageCapacity:boolean TokenRequests RequiresRepublish:boolean Modes Age',
    (object) => {
      const tokens = objectsAt(object, 'spec', 'tokenRequests').map((each) => textAt(each, 'audience'));
      return [
        at(object, 'spec', 'attachRequired') !== false,
        at(object, 'spec', 'podInfoOnMount') === true,
        at(object, 'spec', 'storageCapacity') === true,
        at(object, 'spec', 'tokenRequests') === undefined ? '<unset>' : tokens.join(','),
        at(object, 'spec', 'requiresRepublish') === true,
        orNone(textsAt(object, 'spec', 'volumeLifecycleModes').join(',')),
      ];
    },
  ),
  'storage.k8s.io/csinodes': printer('Name:name Drivers:integer Age', (object) => [
    objectsAt(object, 'spec', 'drivers').length,
  ]),
  'storage.k8s.io/volumeattachments': printer('Name:name Attacher:name PV Node Attached:boolean Age', (object) => [
    textAt(object, 'spec', 'attacher'),
    textAt(object, 'spec', 'source', 'persistentVolumeName'),
    textAt(object, 'spec', 'nodeName'),
    at(object, 'status', 'attached') === true,
  ]),
  'storage.k8s.io/volumeattributesclasses': printer('Name:name DriverName Age', (object) => [
    textAt(object, 'driverName'),
  ]),
};
