import type { JsonObject } from '../../kube/json.js';
import { addQuantities, compareAmounts, isZeroAmount, type QuantityMap, quantities } from './amounts.js';
import { child, objects } from './fields.js';

const COUNTED = ['cpu', 'memory'];

/** `Guaranteed` if requests equal limits in every container, `BestEffort` if none has any, else `Burstable`. */
export function podQuality(pod: JsonObject): string {
  const spec = child(pod, 'spec');
  const level = child(spec, 'resources');
  const ofPod = [quantities(level, 'requests'), quantities(level, 'limits')];
  if (ofPod.some((amounts) => COUNTED.some((name) => amounts.has(name)))) return classOf(ofPod[0]!, ofPod[1]!, true);
  const requests: QuantityMap = new Map();
  const limits: QuantityMap = new Map();
  let isGuaranteed = true;
  for (const container of [...objects(spec, 'containers'), ...objects(spec, 'initContainers')]) {
    const resources = child(container, 'resources');
    addQuantities(requests, counted(quantities(resources, 'requests')));
    const capped = counted(quantities(resources, 'limits'));
    addQuantities(limits, capped);
    if (capped.size < COUNTED.length) isGuaranteed = false;
  }
  return classOf(requests, limits, isGuaranteed);
}

function counted(amounts: ReadonlyMap<string, string>): QuantityMap {
  return new Map([...amounts].filter(([name, amount]) => COUNTED.includes(name) && !isZeroAmount(amount)));
}

function classOf(requests: QuantityMap, limits: QuantityMap, isGuaranteed: boolean): string {
  const asked = counted(requests);
  const capped = counted(limits);
  if (asked.size === 0 && capped.size === 0) return 'BestEffort';
  const isEqual = [...asked].every(([name, amount]) => {
    const limit = capped.get(name);
    return limit !== undefined && compareAmounts(amount, limit) === 0;
  });
  return isGuaranteed && isEqual && asked.size === capped.size && capped.size === COUNTED.length
    ? 'Guaranteed'
    : 'Burstable';
}
