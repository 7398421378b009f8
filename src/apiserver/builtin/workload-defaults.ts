import type { JsonObject } from '../../kube/json.js';
import { INT32_MAX } from './built-in-formats.js';
import { child, childOrNew, fill, has, text } from './fields.js';
import type { TypeDefaultsTable } from './type-defaults.js';

const REVISIONS = 10;

export const WORKLOAD_DEFAULTS: TypeDefaultsTable = {
  'io.k8s.api.apps.v1.Deployment': (deployment) => {
    const spec = childOrNew(deployment, 'spec');
    fill(spec, { replicas: 1, revisionHistoryLimit: REVISIONS, progressDeadlineSeconds: 600 });
    const strategy = childOrNew(spec, 'strategy');
    fill(strategy, { type: 'RollingUpdate' });
    if (text(strategy, 'type') === 'RollingUpdate') {
      fill(childOrNew(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
    }
  },
  'io.k8s.api.apps.v1.DaemonSet': (daemonSet) => {
    const spec = childOrNew(daemonSet, 'spec');
    fill(spec, { revisionHistoryLimit: REVISIONS });
    const strategy = childOrNew(spec, 'updateStrategy');
    fill(strategy, { type: 'RollingUpdate' });
    if (text(strategy, 'type') === 'RollingUpdate') {
      fill(childOrNew(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
    }
  },
  'io.k8s.api.apps.v1.StatefulSet': (statefulSet, { minor }) => {
    const spec = childOrNew(statefulSet, 'spec');
    const strategy = childOrNew(spec, 'updateStrategy');
    if (!has(strategy, 'type')) {
      strategy['type'] = 'RollingUpdate';
      fill(strategy, { rollingUpdate: {} });
    }
    const rolling = child(strategy, 'rollingUpdate');
    if (text(strategy, 'type') === 'RollingUpdate' && rolling !== undefined) {
      fill(rolling, { partition: 0, ...(minor >= 37 ? { maxUnavailable: 1 } : {}) });
    }
    fill(spec, { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: REVISIONS });
    fill(childOrNew(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  },
  // Claims to come are whole objects here, with a status.
  'io.k8s.api.apps.v1.StatefulSetSpec': (spec) => {
    const templates = spec['volumeClaimTemplates'];
    if (!Array.isArray(templates)) return;
    for (const template of templates as JsonObject[])
      fill(template, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
  },
  'io.k8s.api.apps.v1.ReplicaSet': (replicaSet) => fill(childOrNew(replicaSet, 'spec'), { replicas: 1 }),
  'io.k8s.api.core.v1.ReplicationController': (controller) => {
    const spec = childOrNew(controller, 'spec');
    fill(spec, { replicas: 1 });
    const labels = child(child(child(spec, 'template'), 'metadata'), 'labels');
    if (labels === undefined) return;
    fill(spec, { selector: structuredClone(labels) });
    labelAsTemplate(controller);
  },
  'io.k8s.api.batch.v1.Job': (job) => {
    const spec = childOrNew(job, 'spec');
    if (!has(spec, 'completions') && !has(spec, 'parallelism')) fill(spec, { completions: 1 });
    fill(spec, {
      parallelism: 1,
      backoffLimit: has(spec, 'backoffLimitPerIndex') ? INT32_MAX : 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: has(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed',
      manualSelector: false,
    });
    labelAsTemplate(job);
  },
  'io.k8s.api.batch.v1.CronJob': (cronJob) =>
    fill(childOrNew(cronJob, 'spec'), {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern': (pattern) => {
    if (text(pattern, 'status') === '') pattern['status'] = 'True';
  },
};

/** Copies the labels of the pod template to an object without labels. */
function labelAsTemplate(object: JsonObject): void {
  const labels = child(child(child(child(object, 'spec'), 'template'), 'metadata'), 'labels');
  if (labels !== undefined) fill(childOrNew(object, 'metadata'), { labels: structuredClone(labels) });
}
