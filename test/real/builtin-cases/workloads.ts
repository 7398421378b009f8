import type { JsonObject } from '../../../src/kube/json.js';
import { kind, merge, spec } from './case.js';

const deployment = kind('apps/v1/deployments', { apiVersion: 'apps/v1', kind: 'Deployment' });
const replicaSet = kind('apps/v1/replicasets', { apiVersion: 'apps/v1', kind: 'ReplicaSet' });
const statefulSet = kind('apps/v1/statefulsets', { apiVersion: 'apps/v1', kind: 'StatefulSet' });
const daemonSet = kind('apps/v1/daemonsets', { apiVersion: 'apps/v1', kind: 'DaemonSet' });
const controller = kind('v1/replicationcontrollers', { apiVersion: 'v1', kind: 'ReplicationController' });
const revision = kind('apps/v1/controllerrevisions', { apiVersion: 'apps/v1', kind: 'ControllerRevision' });
const podTemplate = kind('v1/podtemplates', { apiVersion: 'v1', kind: 'PodTemplate' });
const job = kind('batch/v1/jobs', { apiVersion: 'batch/v1', kind: 'Job' });
const cronJob = kind('batch/v1/cronjobs', { apiVersion: 'batch/v1', kind: 'CronJob' });

const labels = { app: 'x' };
const selector = { matchLabels: labels };
const template = (more: JsonObject = {}, own: JsonObject = labels): JsonObject => ({
  metadata: { labels: own },
  spec: { containers: [{ name: 'c', image: 'nginx:1', resources: { limits: { cpu: 1 } } }], ...more },
});
const work = (more: JsonObject = {}): JsonObject => spec({ selector, template: template(), ...more });
const once = (more: JsonObject = {}): JsonObject =>
  spec({ template: { spec: { containers: [{ name: 'c', image: 'x' }], restartPolicy: 'Never' } }, ...more });

export const WORKLOAD_CASES = [
  deployment(
    'minimal',
    work(),
    merge({ spec: { replicas: 3 } }),
    merge({ metadata: { annotations: { a: 'b' } } }),
    merge({ metadata: { labels: { a: 'b' } } }),
    merge({ spec: { selector: { matchLabels: { app: 'y' } } } }),
    merge({ status: { replicas: 2, observedGeneration: 1 } }, 'status'),
    merge({ status: { replicas: -1 } }, 'status'),
  ),
  deployment('with status', { ...work({ replicas: 0, paused: false }), status: { replicas: 5 } }),
  deployment('recreate', work({ strategy: { type: 'Recreate' }, minReadySeconds: 5 })),
  deployment('rolling', work({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: '0%' } } })),
  deployment('nothing', spec({})),
  deployment('no match', work({ template: template({}, { app: 'z' }) })),
  deployment(
    'bad numbers',
    work({ replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: 0 }),
  ),
  deployment('bad strategy', work({ strategy: { type: 'Odd' } })),
  deployment('recreate rolling', work({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } })),
  deployment('zero and zero', work({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } })),
  deployment('bad percent', work({ strategy: { rollingUpdate: { maxSurge: 'x', maxUnavailable: '101%' } } })),
  deployment('never', work({ template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 3 }) })),
  deployment('bad template', work({ template: template({ containers: [] }) })),
  deployment(
    'bad selector',
    work({
      selector: {
        matchLabels: { app: '!' },
        matchExpressions: [
          { key: 'app', operator: 'In' },
          { key: 'x', operator: 'Odd' },
          { key: 'y', operator: 'Exists', values: ['v'] },
        ],
      },
    }),
  ),
  deployment('deadline and ready', work({ minReadySeconds: 600 })),
  replicaSet(
    'minimal',
    work(),
    merge({ spec: { replicas: 2 } }),
    merge({ spec: { selector: { matchLabels: { app: 'y' } } } }),
    merge({ status: { replicas: 1, readyReplicas: 2 } }, 'status'),
  ),
  replicaSet('empty selector', work({ selector: {} })),
  replicaSet('no match', work({ template: template({}, { app: 'z' }) })),
  replicaSet('no selector', spec({ template: template() })),
  statefulSet(
    'minimal',
    work({ serviceName: 's' }),
    merge({ spec: { serviceName: 'other' } }),
    merge({ spec: { replicas: 2 } }),
  ),
  statefulSet(
    'claims',
    work({
      serviceName: 's',
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    }),
  ),
  statefulSet(
    'on delete',
    work({ serviceName: 's', updateStrategy: { type: 'OnDelete' }, podManagementPolicy: 'Parallel' }),
  ),
  statefulSet(
    'bad',
    work({
      replicas: -1,
      podManagementPolicy: 'Odd',
      updateStrategy: { type: 'Odd' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Odd' },
    }),
  ),
  statefulSet(
    'bad partition',
    work({
      serviceName: 's',
      updateStrategy: { rollingUpdate: { partition: -1 } },
      template: template({ restartPolicy: 'Never' }),
    }),
  ),
  daemonSet(
    'minimal',
    work(),
    merge({ spec: { selector: { matchLabels: { app: 'y' } } } }),
    merge({ spec: { minReadySeconds: 3 } }),
  ),
  daemonSet('on delete', work({ updateStrategy: { type: 'OnDelete' } })),
  daemonSet(
    'bad',
    work({ updateStrategy: { type: 'Odd' }, template: template({ restartPolicy: 'OnFailure' }, { app: 'q' }) }),
  ),
  daemonSet('zero', work({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } })),
  controller('minimal', spec({ template: template() }), merge({ spec: { replicas: 0 } })),
  controller('nothing', spec({})),
  controller('no match', spec({ selector: { a: 'b' }, template: template() })),
  revision('minimal', { revision: 1, data: { a: 1 } }, merge({ data: { a: 2 } }), merge({ revision: 2 })),
  revision('negative', { revision: -1 }),
  podTemplate('minimal', { template: template() }, merge({ template: { spec: { hostNetwork: true } } })),
  job(
    'minimal',
    once(),
    merge({ spec: { parallelism: 3 } }),
    merge({ spec: { completions: 3 } }),
    merge({ spec: { template: { metadata: { labels: { x: 'y' } } } } }),
    merge({ status: { active: 1, startTime: '2026-01-01T00:00:00Z' } }, 'status'),
  ),
  job('indexed', once({ completions: 3, completionMode: 'Indexed', parallelism: 2 })),
  job('parallel', once({ parallelism: 2 })),
  job(
    'suspended',
    once({ suspend: true, backoffLimit: 0, ttlSecondsAfterFinished: 0, activeDeadlineSeconds: 5 }),
    merge({ spec: { suspend: false } }),
  ),
  job('manual selector', spec({ manualSelector: true, selector, template: template({ restartPolicy: 'OnFailure' }) })),
  job('own selector', spec({ selector, template: template({ restartPolicy: 'OnFailure' }) })),
  job(
    'failure policy',
    once({
      podFailurePolicy: {
        rules: [
          { action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } },
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
        ],
      },
    }),
  ),
  job('always', spec({ template: template({ restartPolicy: 'Always' }) })),
  job('no policy', spec({ template: template() })),
  job(
    'bad',
    once({
      completions: -1,
      parallelism: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
      completionMode: 'Odd',
      podReplacementPolicy: 'Odd',
    }),
  ),
  job('indexed without completions', once({ completionMode: 'Indexed' })),
  cronJob(
    'minimal',
    spec({ schedule: '*/5 * * * *', jobTemplate: once() }),
    merge({ spec: { suspend: true } }),
    merge({ spec: { schedule: 'x' } }),
  ),
  cronJob(
    'zoned',
    spec({
      schedule: '@daily',
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      jobTemplate: once({ backoffLimit: 1 }),
    }),
  ),
  cronJob(
    'bad',
    spec({
      schedule: '* * *',
      timeZone: 'Nowhere/City',
      concurrencyPolicy: 'Odd',
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      jobTemplate: once(),
    }),
  ),
  cronJob('no schedule', spec({ jobTemplate: spec({ template: template() }) })),
  cronJob('zone in the schedule', spec({ schedule: 'TZ=UTC 0 * * * *', jobTemplate: once() })),
  cronJob('manual', spec({ schedule: '0 0 31 2 *', jobTemplate: once({ manualSelector: true }) })),
  cronJob('a name that is much too long for the jobs that it makes', {
    ...spec({ schedule: '0 * * * *', jobTemplate: once() }),
    metadata: { name: 'n'.repeat(53) },
  }),
];
