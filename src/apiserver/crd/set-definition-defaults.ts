import { isObject, type JsonObject, member } from '../../kube/json.js';
import { listIn, objectIn, textIn, textsIn } from './definition.js';

/** What kube-apiserver fills into a definition. Changes the object in place where something is missing. */
export function setDefinitionDefaults(crd: JsonObject): JsonObject {
  const spec = objectIn(crd, 'spec');
  if (spec === undefined) return crd;
  const names = objectIn(spec, 'names');
  const kind = names === undefined ? '' : textIn(names, 'kind');
  if (names !== undefined && kind !== '') {
    if (textIn(names, 'singular') === '') names['singular'] = kind.toLowerCase();
    if (textIn(names, 'listKind') === '') names['listKind'] = `${kind}List`;
  }
  if (objectIn(spec, 'conversion') === undefined) spec['conversion'] = { strategy: 'None' };
  const webhook = member(objectIn(spec, 'conversion') ?? {}, 'webhook');
  const config = isObject(webhook) ? objectIn(webhook, 'clientConfig') : undefined;
  const service = config === undefined ? undefined : objectIn(config, 'service');
  if (service !== undefined && (service['port'] ?? null) === null) service['port'] = 443;
  setStoredVersions(crd, spec);
  return crd;
}

function setStoredVersions(crd: JsonObject, spec: JsonObject): void {
  const status = objectIn(crd, 'status') ?? {};
  const storage = listIn(spec, 'versions').find((each) => isObject(each) && each['storage'] === true);
  if (textsIn(status, 'storedVersions').length > 0 || !isObject(storage)) return;
  crd['status'] = { ...status, storedVersions: [textIn(storage, 'name')] };
}
