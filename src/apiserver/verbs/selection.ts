import { isObject, type JsonObject } from '../../kube/json.js';
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
import type { ApiCall } from './api-call.js';

/** Which objects of a collection are meant: where they lie, and what they must be like. */
export interface Selection {
  /** Keys of objects that can be meant begin with this; where one is named, it is the key itself. */
  readonly prefix: string;
  readonly isSingle: boolean;
  /** Nothing but the place decides. */
  readonly takesAll: boolean;
  matches(object: JsonObject): boolean;
}

/** Throws BadRequest for selectors that make no sense for the kind. */
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
  // The deprecated form /watch/…/<name> names one object too.
  const name = info.name !== '' ? info.name : requiredFieldValue(fields, 'metadata.name');
  const isSingle = name !== undefined && (!type.namespaced || namespace !== '');
  const single = isSingle ? storageKey(prefix, namespace, name) : '';
  return {
    prefix: isSingle ? single : namespace === '' ? prefix : `${prefix}${namespace}/`,
    isSingle,
    takesAll: labels.length === 0 && fields.length === 0,
    matches: (object) => matchesLabels(labels, labelsOf(object)) && matchesFields(fields, object, type.selectable),
  };
}

function labelsOf(object: JsonObject): Record<string, string> {
  const metadata = object['metadata'];
  const labels = isObject(metadata) ? metadata['labels'] : undefined;
  return (isObject(labels) ? labels : {}) as Record<string, string>;
}
