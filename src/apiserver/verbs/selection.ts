import { objectMember } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import {
  type FieldSelector,
  fieldSelectorForKind,
  matchesFields,
  parseFieldSelector,
  requiredFieldValue,
} from '../select/field-selector.js';
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../select/label-selector.js';
import { storageKey } from '../watch/caches.js';
import type { Selection } from '../watch/resource-cache.js';
import type { ApiCall } from './api-call.js';

/** Throws BadRequest for selectors that the kind does not support. */
export function selectionOf({ type, query, info }: ApiCall): Selection {
  let labels: LabelSelector;
  let fields: FieldSelector;
  try {
    labels = parseLabelSelector(query.get('labelSelector') ?? '');
    fields = fieldSelectorForKind(parseFieldSelector(query.get('fieldSelector') ?? ''), type, type.selectable);
  } catch (error) {
    throw new StatusError('BadRequest', (error as Error).message);
  }
  const { prefix } = type.storage;
  const namespace = type.namespaced ? info.namespace : '';
  // The deprecated path /watch/…/<name> has the name of one object.
  const name = info.name !== '' ? info.name : requiredFieldValue(fields, 'metadata.name');
  const isSingle = name !== undefined && (!type.namespaced || namespace !== '');
  const single = isSingle ? storageKey(prefix, namespace, name) : '';
  return {
    prefix: isSingle ? single : namespace === '' ? prefix : `${prefix}${namespace}/`,
    isSingle,
    takesAll: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      matchesLabels(labels, objectMember(metadataOf(object), 'labels') as Record<string, string>) &&
      matchesFields(fields, object, type.selectable),
  };
}
