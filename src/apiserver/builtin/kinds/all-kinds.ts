import type { KindRulesTable } from '../kind-rules.js';
import { ACCESS_RULES } from './access.js';
import { BATCH_RULES } from './batch.js';
import { CLUSTER_RULES } from './cluster.js';
import { CONFIG_RULES } from './config.js';
import { ENDPOINT_RULES } from './endpoints.js';
import { NETWORKING_RULES } from './networking.js';
import { POD_RULES } from './pods.js';
import { POLICY_RULES } from './policy.js';
import { SERVICE_RULES } from './services.js';
import { SHARING_RULES } from './sharing.js';
import { STORAGE_RULES } from './storage.js';
import { WEBHOOK_RULES } from './webhooks.js';
import { WORKLOAD_RULES } from './workloads.js';

/** The rules of built-in kinds; kinds that are in none of these tables follow the ordinary rules. */
export const KIND_RULES: KindRulesTable = {
  ...POD_RULES,
  ...WORKLOAD_RULES,
  ...BATCH_RULES,
  ...SERVICE_RULES,
  ...ENDPOINT_RULES,
  ...NETWORKING_RULES,
  ...CONFIG_RULES,
  ...CLUSTER_RULES,
  ...POLICY_RULES,
  ...STORAGE_RULES,
  ...SHARING_RULES,
  ...ACCESS_RULES,
  ...WEBHOOK_RULES,
};
