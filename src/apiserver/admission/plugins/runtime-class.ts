import { type JsonObject, jsonEqual } from '../../../kube/json.js';
import { child, childOrNew, has, objects as objectsOf, text, textMap } from '../../builtin/fields.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { created, refused } from './refusal.js';

const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };

/** Copies overhead and scheduling constraints of a RuntimeClass into new pods that name it. */
export function runtimeClass(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    mutate: (request) => {
      const spec = podSpec(request);
      if (spec === undefined) return;
      const found = classOf(request, spec, objects);
      const overhead = child(child(found, 'overhead'), 'podFixed');
      if (overhead !== undefined) {
        if (has(spec, 'overhead') && !jsonEqual(spec['overhead'], overhead)) throw mismatch(request);
        spec['overhead'] = structuredClone(overhead);
      }
      const scheduling = child(found, 'scheduling');
      if (scheduling !== undefined) setScheduling(request, spec, scheduling);
    },
    validate: (request) => {
      const spec = podSpec(request);
      if (spec === undefined) return;
      const overhead = child(child(classOf(request, spec, objects), 'overhead'), 'podFixed');
      if (overhead !== undefined && !jsonEqual(spec['overhead'], overhead)) throw mismatch(request);
      if (overhead === undefined && has(spec, 'overhead')) {
        throw refused(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    },
  };
}

function podSpec(request: AdmissionRequest): JsonObject | undefined {
  const pod = created(request, '', 'pods');
  return pod && childOrNew(pod, 'spec');
}

function classOf(request: AdmissionRequest, spec: JsonObject, objects: ObjectReader): JsonObject | undefined {
  const name = text(spec, 'runtimeClassName');
  if (name === '') return undefined;
  const found = objects.get(RUNTIME_CLASSES, '', name);
  if (found === undefined) throw refused(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found;
}

function mismatch(request: AdmissionRequest): Error {
  return refused(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function setScheduling(request: AdmissionRequest, spec: JsonObject, scheduling: JsonObject): void {
  const wanted = textMap(scheduling, 'nodeSelector');
  const podSelector = textMap(spec, 'nodeSelector');
  for (const key of Object.keys(wanted)) {
    if (!Object.hasOwn(podSelector, key) || podSelector[key] === wanted[key]) continue;
    const ours = `runtimeClass.scheduling.nodeSelector[${key}] = ${wanted[key]}`;
    throw refused(request, `conflict: ${ours}; pod.spec.nodeSelector[${key}] = ${podSelector[key]}`);
  }
  if (Object.keys(wanted).length > 0) spec['nodeSelector'] = { ...podSelector, ...wanted };
  const tolerations = objectsOf(spec, 'tolerations');
  const added = objectsOf(scheduling, 'tolerations').filter(
    (each) => !tolerations.some((present) => jsonEqual(present, each)),
  );
  if (added.length > 0) spec['tolerations'] = [...tolerations, ...structuredClone(added)];
}
