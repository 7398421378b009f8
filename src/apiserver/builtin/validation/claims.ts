import type { JsonObject } from '../../../kube/json.js';
import { amountOf } from '../amounts.js';
import { dnsSubdomainProblems } from '../built-in-formats.js';
import { child, text, texts } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkLabelSelector } from './labels.js';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const VOLUME_MODES = ['Block', 'Filesystem'];

export function checkAccessModes(problems: Problems, field: string, modes: readonly string[]): void {
  for (const mode of modes) problems.oneOf(field, mode, ACCESS_MODES);
  const known = new Set(modes.filter((mode) => ACCESS_MODES.includes(mode)));
  if (known.has('ReadWriteOncePod') && known.size > 1) {
    problems.forbidden(field, 'may not use ReadWriteOncePod with other access modes');
  }
}

/** Checks the spec of a claim or of a claim template. */
export function checkClaimSpec(problems: Problems, field: string, spec: JsonObject): void {
  const modes = texts(spec, 'accessModes');
  if (modes.length === 0) problems.required(`${field}.accessModes`, 'at least 1 access mode is required');
  checkLabelSelector(problems, `${field}.selector`, child(spec, 'selector'));
  checkAccessModes(problems, `${field}.accessModes`, modes);
  const requests = child(child(spec, 'resources'), 'requests');
  const size = amountOf(requests?.['storage']);
  if (size === undefined) problems.required(`${field}.resources[storage]`);
  else if (size.billionths <= 0n) {
    problems.invalid(`${field}.resources[storage]`, requests!['storage'], 'must be greater than zero');
  }
  for (const name of ['storageClassName', 'volumeAttributesClassName']) {
    problems.optionalFormat(`${field}.${name}`, text(spec, name), dnsSubdomainProblems);
  }
  problems.optionalOneOf(spec, field, 'volumeMode', VOLUME_MODES);
  checkDataSources(problems, field, spec);
}

function checkDataSources(problems: Problems, field: string, spec: JsonObject): void {
  for (const name of ['dataSource', 'dataSourceRef']) {
    const source = child(spec, name);
    if (source === undefined) continue;
    const path = `${field}.${name}`;
    problems.requiredMembers(source, path, 'name', 'kind');
    const kind = text(source, 'kind');
    if (text(source, 'apiGroup') === '' && kind !== 'PersistentVolumeClaim') {
      problems.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    }
  }
}
