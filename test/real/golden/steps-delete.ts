import type { Step } from './step.js';

export const WATCHING: readonly Step[] = [
  {
    watch: 'get configmaps -n other --watch --output-watch-events',
    during: [
      'create configmap seen -n other --from-literal=a=1',
      'label configmap seen -n other x=y',
      'delete configmap seen -n other',
    ],
    lines: 4,
  },
  {
    watch: 'get configmaps -n other --watch-only -l watched=yes -o name',
    during: [
      'create configmap kept -n other',
      'label configmap kept -n other watched=yes',
      'label configmap kept -n other watched=no --overwrite',
      'label configmap kept -n other watched=yes --overwrite',
    ],
    lines: 3,
  },
  {
    watch: 'get pods -n shop -w --field-selector=metadata.name=runner',
    during: [`patch pod runner -n shop --subresource=status --type=merge -p '{"status":{"phase":"Failed"}}'`],
    lines: 3,
  },
  {
    watch: `get widgets -n shop -w --output-watch-events -o jsonpath='{.type} {.object.kind} {.object.metadata.labels}{"\\n"}'`,
    during: ['label widget first -n shop watched=now', 'label widget first -n shop watched-'],
    lines: 3,
  },
];

export const WAITING: readonly Step[] = [
  'wait --for=condition=Ready pod/runner -n shop --timeout=2s',
  'wait --for=condition=Available deployment/web -n shop --timeout=1s',
  `wait --for=jsonpath='{.status.phase}'=Failed pod/runner -n shop --timeout=5s`,
  'wait --for=create configmap/kept -n other --timeout=5s',
  'wait --for=delete configmap/absent -n other --timeout=5s',
  'wait --for=delete configmap/kept -n other --timeout=1s',
  'wait --for=condition=Ready pod/absent -n shop --timeout=1s',
];

export const DELETING: readonly Step[] = [
  'delete configmap absent -n shop',
  'delete configmap absent -n shop --ignore-not-found',
  'delete configmap literals -n shop --dry-run=client',
  'delete configmap literals -n shop --dry-run=server',
  'delete configmap literals -n shop -o name',
  'delete deployment api -n shop --cascade=background',
  'delete deployment web -n shop --cascade=foreground --wait=false',
  `get deployment web -n shop -o jsonpath='{.metadata.finalizers}{.metadata.deletionGracePeriodSeconds}{.metadata.generation}'`,
  'delete deployment web -n shop --cascade=foreground --timeout=1s',
  'delete statefulset db -n shop --cascade=orphan --wait=false',
  `get statefulset db -n shop -o jsonpath='{.metadata.finalizers}'`,
  `patch statefulset db -n shop --type=merge -p '{"metadata":{"finalizers":null}}'`,
  'get statefulset db -n shop',
  'delete job once -n shop',
  'delete job from-cron -n shop --cascade=orphan --wait=false',
  'get jobs -n shop',
  'delete pod runner -n shop --grace-period=0 --force',
  'delete pod single -n shop --now --wait=false',
  'delete pods --all -n shop',
  'get pods -n shop',
  'delete services -l app=web -n shop',
  'delete -f workloads.yaml --ignore-not-found --wait=false',
  'delete cronjob,daemonset --all -n shop',
  'delete node worker-1',
  'delete priorityclass system-node-critical',
  'delete priorityclass important',
  'delete clusterrole metrics',
  'delete crd widgets.example.test --timeout=20s',
  'get widgets -n shop',
  'delete namespace kube-system',
  'delete namespace other --wait=false',
  'get namespace other -o yaml',
  'create configmap late -n other',
  'delete namespace other --wait=false',
  'delete namespace other --timeout=1s',
  'get namespaces',
];
