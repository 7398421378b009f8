import type { JsonObject } from '../../../kube/json.js';
import { child, childOrNew, flag, has, number, restore, text } from '../../builtin/fields.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { isAbout, isWrite, refused } from './refusal.js';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

/** Sets the priority of pods from their class, and refuses a second global default class. */
export function priority(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'Priority',
    mutate: (request) => {
      const { object: pod, oldObject, operation } = request;
      if (!isAbout(request, '', 'pods') || pod === undefined) return;
      const spec = childOrNew(pod, 'spec');
      if (operation === 'CREATE') setPriority(request, spec, objects);
      if (operation !== 'UPDATE' || oldObject === undefined) return;
      const before = child(oldObject, 'spec') ?? {};
      for (const name of ['priority', 'preemptionPolicy']) if (!has(spec, name)) restore(spec, before, name);
    },
    validate: (request) => {
      const { object, operation, name } = request;
      if (!isAbout(request, 'scheduling.k8s.io', 'priorityclasses') || !isWrite(request)) return;
      if (!flag(object, 'globalDefault')) return;
      const other = defaultClass(objects);
      const otherName = text(child(other, 'metadata'), 'name');
      if (other === undefined || (operation === 'UPDATE' && otherName === name)) return;
      throw refused(request, `PriorityClass ${otherName} is already marked as default. Only one default can exist`);
    },
  };
}

function setPriority(request: AdmissionRequest, spec: JsonObject, objects: ObjectReader): void {
  const asked = text(spec, 'priorityClassName');
  const found = asked === '' ? defaultClass(objects) : objects.get(PRIORITY_CLASSES, '', asked);
  if (asked !== '' && found === undefined) {
    throw refused(request, `no PriorityClass with name ${asked} was found`);
  }
  const value = number(found, 'value') ?? 0;
  const policy = text(found, 'preemptionPolicy') || 'PreemptLowerPriority';
  const given = number(spec, 'priority');
  if (given !== undefined && given !== value) {
    const why = `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
    throw refused(request, why);
  }
  const givenPolicy = text(spec, 'preemptionPolicy');
  if (givenPolicy !== '' && givenPolicy !== policy) {
    const why = `the string value of PreemptionPolicy (${givenPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
    throw refused(request, why);
  }
  if (found !== undefined) spec['priorityClassName'] = text(child(found, 'metadata'), 'name');
  spec['priority'] = value;
  spec['preemptionPolicy'] = policy;
}

/** Returns the default class; of several, the one with the lowest value. */
function defaultClass(objects: ObjectReader): JsonObject | undefined {
  return objects
    .list(PRIORITY_CLASSES)
    .filter((each) => flag(each, 'globalDefault'))
    .reduce<JsonObject | undefined>(
      (least, each) =>
        least === undefined || (number(each, 'value') ?? 0) < (number(least, 'value') ?? 0) ? each : least,
      undefined,
    );
}
