import { child, childOrNew, objects, text } from '../../builtin/fields.js';
import type { AdmissionPlugin } from '../admission.js';
import { isAbout, isWrite } from './refusal.js';

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const SECONDS = 300;

/** Adds tolerations of 300 s for unready and unreachable nodes, unless a pod has others. */
export function defaultTolerationSeconds(): AdmissionPlugin {
  return {
    name: 'DefaultTolerationSeconds',
    mutate: (request) => {
      const { object: pod } = request;
      if (!isAbout(request, '', 'pods') || !isWrite(request) || pod === undefined) return;
      const tolerations = objects(child(pod, 'spec'), 'tolerations');
      const missing = TAINTS.filter(
        (key) =>
          !tolerations.some((each) => {
            const isKey = text(each, 'key') === key || text(each, 'key') === '';
            return isKey && ['NoExecute', ''].includes(text(each, 'effect'));
          }),
      );
      if (missing.length === 0) return;
      childOrNew(pod, 'spec')['tolerations'] = [
        ...tolerations,
        ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS })),
      ];
    },
  };
}
