import { type Json, type JsonObject, jsonEqual } from '../../../kube/json.js';
import { dns1035LabelProblems, dnsSubdomainProblems, pathSegmentProblems } from '../built-in-formats.js';
import { child, eachObject, has, number, objects, restore, specOf, text, texts } from '../fields.js';
import {
  IMMUTABLE,
  type KindRules,
  type KindRulesTable,
  RESET_STATUS,
  type RuleContext,
  specChanges,
} from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { checkLabelSelector } from '../validation/labels.js';
import { checkServicePort } from './webhooks.js';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
function checkRules(role: JsonObject, problems: Problems, isNamespaced: boolean): void {
  for (const [field, rule] of eachObject(role, '', 'rules')) {
    if (texts(rule, 'verbs').length === 0) problems.required(`${field}.verbs`, 'verbs must contain at least one value');
    const paths = texts(rule, 'nonResourceURLs');
    const groups = texts(rule, 'apiGroups');
    const resources = texts(rule, 'resources');
    if (paths.length > 0) {
      const path = `${field}.nonResourceURLs`;
      if (isNamespaced) problems.invalid(path, paths, 'namespaced rules cannot apply to non-resource URLs');
      if (groups.length + resources.length + texts(rule, 'resourceNames').length > 0) {
        problems.invalid(path, paths, 'rules cannot apply to both regular resources and non-resource URLs');
      }
      continue;
    }
    if (groups.length === 0) {
      problems.required(`${field}.apiGroups`, 'resource rules must supply at least one api group');
    }
    if (resources.length === 0) {
      problems.required(`${field}.resources`, 'resource rules must supply at least one resource');
    }
  }
}

function checkAggregation(role: JsonObject, problems: Problems): void {
  const aggregation = child(role, 'aggregationRule');
  if (aggregation === undefined) return;
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = objects(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0) {
    problems.required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  }
  for (const [index, selector] of selectors.entries()) checkLabelSelector(problems, `${field}[${index}]`, selector);
}

function checkBinding(binding: JsonObject, problems: Problems, isNamespaced: boolean): void {
  const role = child(binding, 'roleRef') ?? {};
  problems.oneOf('roleRef.apiGroup', text(role, 'apiGroup'), [RBAC_GROUP]);
  problems.oneOf('roleRef.kind', text(role, 'kind'), isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']);
  problems.requiredFormat('roleRef.name', text(role, 'name'), pathSegmentProblems);
  for (const [path, subject] of eachObject(binding, '', 'subjects')) {
    checkSubject(problems, path, subject, isNamespaced);
  }
}

function checkSubject(problems: Problems, field: string, subject: JsonObject, isNamespaced: boolean): void {
  const name = text(subject, 'name');
  const group = text(subject, 'apiGroup');
  if (name === '') problems.required(`${field}.name`);
  switch (text(subject, 'kind')) {
    case 'ServiceAccount':
      problems.optionalFormat(`${field}.name`, name, dnsSubdomainProblems);
      if (group !== '') problems.unsupported(`${field}.apiGroup`, group, ['']);
      if (!isNamespaced && text(subject, 'namespace') === '') problems.required(`${field}.namespace`);
      return;
    case 'User':
    case 'Group':
      problems.oneOf(`${field}.apiGroup`, group, [RBAC_GROUP]);
      return;
    default:
      problems.unsupported(`${field}.kind`, text(subject, 'kind'), ['ServiceAccount', 'User', 'Group']);
  }
}

function keepsRole(binding: JsonObject, live: JsonObject, problems: Problems, { surface }: RuleContext): void {
  if (jsonEqual(binding['roleRef'], live['roleRef'])) return;
  const role = child(binding, 'roleRef');
  const printed = { APIGroup: text(role, 'apiGroup'), Kind: text(role, 'kind'), Name: text(role, 'name') };
  problems.invalid('roleRef', printed, surface.minor >= 37 ? IMMUTABLE : 'cannot change roleRef');
}

const ofPath = { nameProblems: pathSegmentProblems, createsOnUpdate: true } as const;
const ROLES: KindRules = { ...ofPath, validate: (role, problems) => checkRules(role, problems, true) };
const CLUSTER_ROLES: KindRules = {
  ...ofPath,
  validate: (role, problems) => {
    checkRules(role, problems, false);
    checkAggregation(role, problems);
  },
};
const bindings = (isNamespaced: boolean): KindRules => ({
  ...ofPath,
  validate: (binding, problems) => checkBinding(binding, problems, isNamespaced),
  validateUpdate: keepsRole,
});

function checkApiService(object: JsonObject, problems: Problems): void {
  const spec = specOf(object);
  const group = text(spec, 'group');
  const version = text(spec, 'version');
  const name = text(child(object, 'metadata'), 'name');
  const wanted = `${version}.${group}`;
  if (name !== wanted) {
    problems.invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`);
  }
  if (group === '' && version !== 'v1') {
    problems.required('spec.group', 'only v1 may have an empty group and it better be legacy kube');
  }
  problems.optionalFormat('spec.group', group, dnsSubdomainProblems);
  problems.format('spec.version', version, dns1035LabelProblems);
  checkPriority(problems, 'groupPriorityMinimum', number(spec, 'groupPriorityMinimum') ?? 0, 20_000);
  checkPriority(problems, 'versionPriority', number(spec, 'versionPriority') ?? 0, 1_000);
  checkApiServer(problems, spec);
}

function checkPriority(problems: Problems, name: string, value: number, max: number): void {
  if (value <= 0 || value > max) problems.invalid(`spec.${name}`, value, `must be positive and less than ${max}`);
}

function checkApiServer(problems: Problems, spec: JsonObject): void {
  const service = child(spec, 'service');
  const bundle = text(spec, 'caBundle');
  const isInsecure = spec['insecureSkipTLSVerify'] === true;
  if (service === undefined) {
    if (bundle !== '') {
      const bytes = `${Buffer.from(bundle, 'base64').length} bytes`;
      problems.invalid('spec.caBundle', bytes, 'local APIServices may not have a caBundle');
    }
    if (isInsecure) {
      problems.invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify');
    }
    return;
  }
  problems.requiredMembers(service, 'spec.service', 'namespace', 'name');
  checkServicePort(problems, 'spec.service', service);
  if (isInsecure && bundle !== '') {
    problems.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
  }
}

const API_SERVICES: KindRules = {
  nameProblems: pathSegmentProblems,
  updatesUnconditionally: false,
  // APIs of this server itself are always available.
  prepareForCreate: (object, { now }) => {
    if (has(child(object, 'spec'), 'service')) return;
    const message = 'Local APIServices are always available';
    const available = { type: 'Available', status: 'True', lastTransitionTime: now, reason: 'Local', message };
    object['status'] = { conditions: [available] };
  },
  validate: checkApiService,
  parts: { status: RESET_STATUS },
};

const DECISIONS = ['Approved', 'Denied'];
const PERMANENT = [...DECISIONS, 'Failed'];

const conditionsOf = (object: JsonObject): JsonObject[] => objects(child(object, 'status'), 'conditions');

/** Sets the times of new conditions. */
function setConditionTimes(object: JsonObject, live: JsonObject, now: string): void {
  const byType = new Map<Json | undefined, JsonObject>();
  for (const each of conditionsOf(live)) if (!byType.has(each['type'])) byType.set(each['type'], each);
  for (const condition of conditionsOf(object)) {
    const before = byType.get(condition['type']);
    if (!has(condition, 'lastUpdateTime')) condition['lastUpdateTime'] = now;
    if (has(condition, 'lastTransitionTime')) continue;
    const isSame = before !== undefined && before['status'] === condition['status'];
    condition['lastTransitionTime'] = isSame ? (before['lastTransitionTime'] ?? now) : now;
  }
}

function checkRequest(object: JsonObject, problems: Problems): void {
  const spec = specOf(object);
  const request = Buffer.from(text(spec, 'request'), 'base64').toString();
  if (!request.includes('-----BEGIN CERTIFICATE REQUEST-----')) {
    problems.invalid('spec.request', text(spec, 'request'), 'PEM block type must be CERTIFICATE REQUEST');
  }
  problems.requiredMembers(spec, 'spec', 'usages');
  const signer = text(spec, 'signerName');
  if (signer === '') problems.required('spec.signerName');
  else if (!/^[^/]+\/[^/]+$/.test(signer)) {
    const rule = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    problems.invalid('spec.signerName', signer, rule);
  } else problems.invalidEach('spec.signerName', signer, dnsSubdomainProblems(signer.split('/')[0]!));
  const seconds = number(spec, 'expirationSeconds');
  if (seconds !== undefined && seconds < 600) {
    const rule = 'may not specify a duration less than 600 seconds (10 minutes)';
    problems.invalid('spec.expirationSeconds', seconds, rule);
  }
}

const ofType = (object: JsonObject, type: string): JsonObject[] =>
  conditionsOf(object).filter((each) => text(each, 'type') === type);

/** Decisions keep their values in updates of the status subresource. */
function keepDecisions(object: JsonObject, live: JsonObject): void {
  for (const type of DECISIONS) {
    const before = ofType(live, type);
    if (ofType(object, type).length !== before.length) continue;
    for (const condition of ofType(object, type)) {
      for (const key of Object.keys(condition)) delete condition[key];
      Object.assign(condition, before.shift());
    }
  }
}

/** Decisions are added through the approval subresource only. */
function checkNoNewDecision(object: JsonObject, live: JsonObject, problems: Problems): void {
  for (const type of DECISIONS) {
    if (ofType(object, type).length <= ofType(live, type).length) continue;
    problems.forbidden('status.conditions', `updates may not add a condition of type ${JSON.stringify(type)}`);
  }
}

/** Decisions cannot be withdrawn. */
function checkDecisions(object: JsonObject, live: JsonObject, problems: Problems): void {
  const certificate = Buffer.from(text(child(object, 'status'), 'certificate'), 'base64').toString();
  if (certificate !== '' && !certificate.includes('-----BEGIN CERTIFICATE-----')) {
    const rule = 'must contain at least one CERTIFICATE PEM block';
    problems.invalid('status.certificate', '<certificate data>', rule);
  }
  for (const type of PERMANENT) {
    if (ofType(live, type).length > 0 && ofType(object, type).length === 0) {
      problems.forbidden('status.conditions', `updates may not remove a condition of type ${JSON.stringify(type)}`);
    }
  }
  if (DECISIONS.every((type) => ofType(object, type).length > 0)) {
    problems.invalid('status.conditions', 'Denied', 'Approved and Denied conditions are mutually exclusive');
  }
}

const CERTIFICATE_REQUESTS: KindRules = {
  prepareForUpdate: (object, live) => restore(object, live, 'spec', 'status'),
  validateCreate: checkRequest,
  parts: {
    status: {
      ignoredPaths: ['f:spec', 'f:status.f:conditions'],
      prepareForUpdate: (object, live, { now }) => {
        restore(object, live, 'spec');
        keepDecisions(object, live);
        setConditionTimes(object, live, now);
      },
      validateUpdate: (object, live, problems) => {
        checkDecisions(object, live, problems);
        checkNoNewDecision(object, live, problems);
        const before = text(child(live, 'status'), 'certificate');
        if (before !== '' && before !== text(child(object, 'status'), 'certificate')) {
          problems.forbidden('status.certificate', 'updates may not modify existing certificate content');
        }
      },
    },
    approval: {
      ignoredPaths: ['f:spec', 'f:status.f:certificate'],
      prepareForUpdate: (object, live, { now }) => {
        setConditionTimes(object, live, now);
        const conditions = conditionsOf(object);
        restore(object, live, 'spec', 'status');
        object['status'] = { ...child(object, 'status'), conditions };
      },
      validateUpdate: checkDecisions,
    },
  },
};

export const ACCESS_RULES: KindRulesTable = {
  'rbac.authorization.k8s.io/roles': ROLES,
  'rbac.authorization.k8s.io/clusterroles': CLUSTER_ROLES,
  'rbac.authorization.k8s.io/rolebindings': bindings(true),
  'rbac.authorization.k8s.io/clusterrolebindings': bindings(false),
  'apiregistration.k8s.io/apiservices': API_SERVICES,
  'certificates.k8s.io/certificatesigningrequests': CERTIFICATE_REQUESTS,
  'apiextensions.k8s.io/customresourcedefinitions': {
    generationChanges: specChanges,
    updatesUnconditionally: false,
    parts: { status: RESET_STATUS },
  },
  'resource.k8s.io/deviceclasses': { generationChanges: specChanges },
  'resource.k8s.io/devicetaintrules': { generationChanges: specChanges, parts: { status: RESET_STATUS } },
  'resource.k8s.io/resourceslices': { generationChanges: specChanges },
  'internal.apiserver.k8s.io/storageversions': { updatesUnconditionally: false, parts: { status: RESET_STATUS } },
};
