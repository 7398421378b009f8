import {
  API_SERVICE_PRINTER,
  CONFIG_MAP_PRINTER,
  EVENT_PRINTER,
  LEASE_PRINTER,
  NAMESPACE_PRINTER,
  NETWORK_POLICY_PRINTER,
  NODE_PRINTER,
  PRIORITY_CLASS_PRINTER,
  SECRET_PRINTER,
  SERVICE_ACCOUNT_PRINTER,
  SERVICE_PRINTER,
  WEBHOOK_PRINTER,
} from './core-printers.js';
import { PLAIN_PRINTER } from './custom-printer.js';
import { POD_PRINTER } from './pod-printer.js';
import type { TablePrinter } from './table.js';
import {
  CRON_JOB_PRINTER,
  DAEMON_SET_PRINTER,
  DEPLOYMENT_PRINTER,
  JOB_PRINTER,
  REPLICA_SET_PRINTER,
  REPLICATION_CONTROLLER_PRINTER,
  STATEFUL_SET_PRINTER,
} from './workload-printers.js';

/** By group and resource; versions of one resource are listed alike. */
const PRINTERS: Readonly<Record<string, TablePrinter>> = {
  '/pods': POD_PRINTER,
  '/configmaps': CONFIG_MAP_PRINTER,
  '/secrets': SECRET_PRINTER,
  '/services': SERVICE_PRINTER,
  '/nodes': NODE_PRINTER,
  '/namespaces': NAMESPACE_PRINTER,
  '/events': EVENT_PRINTER,
  '/serviceaccounts': SERVICE_ACCOUNT_PRINTER,
  '/replicationcontrollers': REPLICATION_CONTROLLER_PRINTER,
  'apps/deployments': DEPLOYMENT_PRINTER,
  'apps/replicasets': REPLICA_SET_PRINTER,
  'apps/statefulsets': STATEFUL_SET_PRINTER,
  'apps/daemonsets': DAEMON_SET_PRINTER,
  'batch/jobs': JOB_PRINTER,
  'batch/cronjobs': CRON_JOB_PRINTER,
  'events.k8s.io/events': EVENT_PRINTER,
  'coordination.k8s.io/leases': LEASE_PRINTER,
  'networking.k8s.io/networkpolicies': NETWORK_POLICY_PRINTER,
  'scheduling.k8s.io/priorityclasses': PRIORITY_CLASS_PRINTER,
  'apiregistration.k8s.io/apiservices': API_SERVICE_PRINTER,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': WEBHOOK_PRINTER,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': WEBHOOK_PRINTER,
};

export function builtInPrinter(group: string, resource: string): TablePrinter {
  const key = `${group}/${resource}`;
  return Object.hasOwn(PRINTERS, key) ? PRINTERS[key]! : PLAIN_PRINTER;
}
