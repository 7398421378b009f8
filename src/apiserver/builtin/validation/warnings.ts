import type { JsonObject } from '../../../kube/json.js';
import { child, has, number, objects, text } from '../fields.js';

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

/** Advice that comes along with an answer: what has no effect, or hardly the one that is wished for. */
export function podTemplateWarnings(field: string, spec: JsonObject): string[] {
  return [
    ...volumeWarnings(field, spec),
    ...objects(spec, 'topologySpreadConstraints').flatMap((each, index) =>
      has(each, 'labelSelector')
        ? []
        : [
            `${field}.topologySpreadConstraints[${index}].labelSelector: a null labelSelector results in matching no pod`,
          ],
    ),
    ...objects(spec, 'imagePullSecrets').flatMap((each, index) =>
      text(each, 'name') === '' ? [`${field}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...graceWarnings(field, spec),
    ...objects(spec, 'containers').flatMap((container, index) => environmentWarnings(field, container, index)),
  ];
}

function volumeWarnings(field: string, spec: JsonObject): string[] {
  return objects(spec, 'volumes').flatMap((volume, index) =>
    Object.keys(DEAD_VOLUMES)
      .filter((name) => child(volume, name) !== undefined)
      .map((name) => `${field}.volumes[${index}].${name}: ${DEAD_VOLUMES[name]}`),
  );
}

function graceWarnings(field: string, spec: JsonObject): string[] {
  const seconds = number(spec, 'terminationGracePeriodSeconds') ?? 0;
  const path = `${field}.terminationGracePeriodSeconds`;
  return seconds < 0 ? [`${path}: must be >= 0; negative values are invalid and will be treated as 1`] : [];
}

function environmentWarnings(field: string, container: JsonObject, index: number): string[] {
  const seen = new Set<string>();
  const warnings: string[] = [];
  for (const [at, variable] of objects(container, 'env').entries()) {
    const name = text(variable, 'name');
    if (seen.has(name)) {
      const path = `${field}.containers[${index}].env`;
      warnings.push(`${path}[${at}]: hides previous definition of "${name}", which may be dropped when using apply`);
    }
    seen.add(name);
  }
  return warnings;
}
