import { child, childOrNew, objects, text } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { isAbout } from './refusal.js';

const TAINT = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A node starts as one that is not ready. */
export function taintNodesByCondition(): AdmissionPlugin {
  return {
    name: 'TaintNodesByCondition',
    mutate: (request) => {
      const { object: node, operation } = request;
      if (!isAbout(request, '', 'nodes') || operation !== 'CREATE' || node === undefined) return;
      const taints = objects(child(node, 'spec'), 'taints');
      if (taints.some((each) => text(each, 'key') === TAINT.key && text(each, 'effect') === TAINT.effect)) return;
      childOrNew(node, 'spec')['taints'] = [...taints, { ...TAINT }];
    },
  };
}
