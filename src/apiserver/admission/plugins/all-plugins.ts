import type { Authorizer } from '../../authorization/authorizer.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import type { AdmissionPlugin } from '../admission.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificate-signers.js';
import { defaultIngressClass, defaultStorageClass } from './default-classes.js';
import { storageObjectInUseProtection } from './in-use-protection.js';
import { limitRanger } from './limit-ranger.js';
import { namespaceLifecycle } from './namespace-lifecycle.js';
import { notEnforced } from './not-enforced.js';
import { priority } from './priority.js';
import { runtimeClass } from './runtime-class.js';
import { serviceAccount } from './service-account.js';
import { taintNodesByCondition } from './taint-nodes.js';
import { defaultTolerationSeconds } from './toleration-seconds.js';

/** Returns the plugins in kube-apiserver's order. Webhooks are called after them. */
export function builtInAdmission(objects: ObjectReader, authorizer: Authorizer): AdmissionPlugin[] {
  return [
    namespaceLifecycle(objects),
    limitRanger(objects),
    serviceAccount(objects),
    taintNodesByCondition(),
    priority(objects),
    defaultTolerationSeconds(),
    defaultStorageClass(objects),
    storageObjectInUseProtection(),
    runtimeClass(objects),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    clusterTrustBundleAttest(authorizer),
    certificateSubjectRestriction(),
    defaultIngressClass(objects),
    notEnforced(),
  ];
}
