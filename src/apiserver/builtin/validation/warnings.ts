import type { JsonObject } from '../../../kube/json.js';
import { child, eachObject, has, number, text } from '../fields.js';

const DEAD_VOLUMES: Readonly<Record<string, string>> = {
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
};

/** The warnings of a pod template: settings without effect, or with one that is hardly intended. */
export function podTemplateWarnings(field: string, spec: JsonObject): string[] {
  return [
    ...volumeWarnings(field, spec),
    ...[...eachObject(spec, field, 'topologySpreadConstraints')]
      .filter(([, each]) => !has(each, 'labelSelector'))
      .map(([path]) => `${path}.labelSelector: a null labelSelector results in matching no pod`),
    ...[...eachObject(spec, field, 'imagePullSecrets')]
      .filter(([, each]) => text(each, 'name') === '')
      .map(([path]) => `${path}.name: invalid empty name ""`),
    ...graceWarnings(field, spec),
    ...[...eachObject(spec, field, 'containers')].flatMap(([path, container]) => environmentWarnings(path, container)),
  ];
}

function volumeWarnings(field: string, spec: JsonObject): string[] {
  return [...eachObject(spec, field, 'volumes')].flatMap(([path, volume]) =>
    Object.keys(DEAD_VOLUMES)
      .filter((name) => child(volume, name) !== undefined)
      .map((name) => `${path}.${name}: ${DEAD_VOLUMES[name]}`),
  );
}

function graceWarnings(field: string, spec: JsonObject): string[] {
  const seconds = number(spec, 'terminationGracePeriodSeconds') ?? 0;
  const path = `${field}.terminationGracePeriodSeconds`;
  return seconds < 0 ? [`${path}: must be >= 0; negative values are invalid and will be treated as 1`] : [];
}

function environmentWarnings(field: string, container: JsonObject): string[] {
  const seen = new Set<string>();
  const warnings: string[] = [];
  for (const [path, variable] of eachObject(container, field, 'env')) {
    const name = text(variable, 'name');
    if (seen.has(name)) {
      warnings.push(`${path}: hides previous definition of "${name}", which may be dropped when using apply`);
    }
    seen.add(name);
  }
  return warnings;
}
