import type { StatusDetails } from '../../kube/status.js';
import { StatusError } from '../../kube/status-error.js';
import type { GroupResource } from '../contracts/object-reader.js';
import { goQuote } from '../values/go-quote.js';
import type { Attributes } from './authorizer.js';

/** Returns the message of a refusal by the authorizer. */
export function forbiddenMessage(attributes: Attributes, reason: string): string {
  const what = whatOf(attributes);
  return `${prefixOf(what, 'name' in attributes ? attributes.name : '')}${explanation(attributes, reason)}`;
}

export function forbiddenError(attributes: Attributes, reason: string): StatusError {
  const name = 'name' in attributes ? attributes.name : '';
  return forbidden(whatOf(attributes), name, explanation(attributes, reason));
}

/** Returns a refusal in kube-apiserver's form: `pods "x" is forbidden: …`. */
export function forbidden(
  what: GroupResource,
  name: string,
  problem: string,
  causes?: NonNullable<StatusDetails['causes']>,
): StatusError {
  return new StatusError('Forbidden', `${prefixOf(what, name)}${problem}`, {
    ...(name === '' ? {} : { name }),
    ...(what.group === '' ? {} : { group: what.group }),
    ...(what.resource === '' ? {} : { kind: what.resource }),
    ...(causes === undefined ? {} : { causes }),
  });
}

function prefixOf({ group, resource }: GroupResource, name: string): string {
  if (resource === '') return 'forbidden: ';
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return name === '' ? `${qualified} is forbidden: ` : `${qualified} ${goQuote(name)} is forbidden: `;
}

function whatOf(attributes: Attributes): GroupResource {
  if ('path' in attributes) return { group: '', resource: '' };
  return { group: attributes.group, resource: attributes.resource };
}

function explanation(attributes: Attributes, reason: string): string {
  const text = harmless(sentence(attributes));
  return reason === '' ? text : `${text}: ${reason}`;
}

function sentence(attributes: Attributes): string {
  const start = `User ${goQuote(attributes.user.name)} cannot ${attributes.verb}`;
  if ('path' in attributes) return `${start} path ${goQuote(attributes.path)}`;
  const { resource, subresource, group, namespace } = attributes;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${start} resource ${goQuote(full)} in API group ${goQuote(group)} ${scope}`;
}

/** Escapes names from the request, so that a browser does not take them for markup. */
function harmless(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
