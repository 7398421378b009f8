import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { listIn, objectIn, textIn, textsIn } from './definition.js';

/** Sets the defaults of a definition, in place. */
export function setDefinitionDefaults(crd: JsonObject): JsonObject {
  const spec = objectIn(crd, 'spec');
  if (spec === undefined) return crd;
  const names = objectMember(spec, 'names');
  const kind = textIn(names, 'kind');
  if (kind !== '') {
    if (textIn(names, 'singular') === '') names['singular'] = kind.toLowerCase();
    if (textIn(names, 'listKind') === '') names['listKind'] = `${kind}List`;
  }
  if (objectIn(spec, 'conversion') === undefined) spec['conversion'] = { strategy: 'None' };
  const webhook = objectMember(objectMember(spec, 'conversion'), 'webhook');
  const service = objectIn(objectMember(webhook, 'clientConfig'), 'service');
  if (service !== undefined && (service['port'] ?? null) === null) service['port'] = 443;
  setStoredVersions(crd, spec);
  return crd;
}

function setStoredVersions(crd: JsonObject, spec: JsonObject): void {
  const status = objectMember(crd, 'status');
  const storage = listIn(spec, 'versions').find((each) => isObject(each) && each['storage'] === true);
  if (textsIn(status, 'storedVersions').length > 0 || !isObject(storage)) return;
  crd['status'] = { ...status, storedVersions: [textIn(storage, 'name')] };
}
