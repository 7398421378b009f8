import { child, childOrNew, objects, text } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { created } from './refusal.js';

const TAINT = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Taints new nodes as not ready. */
export function taintNodesByCondition(): AdmissionPlugin {
  return {
    name: 'TaintNodesByCondition',
    mutate: (request) => {
      const node = created(request, '', 'nodes');
      if (node === undefined) return;
      const taints = objects(child(node, 'spec'), 'taints');
      if (taints.some((each) => text(each, 'key') === TAINT.key && text(each, 'effect') === TAINT.effect)) return;
      childOrNew(node, 'spec')['taints'] = [...taints, { ...TAINT }];
    },
  };
}
