import type { JsonObject } from '../../../kube/json.js';
import { dnsSubdomainProblems, labelKeyProblems, portNumberProblems } from '../built-in-formats.js';
import { child, eachObject, eachText, has, number, objects, specOf, text, texts } from '../fields.js';
import { type KindRules, type KindRulesTable, membersChange, RESET_STATUS, specChanges } from '../kind-rules.js';
import type { Problems } from '../problems.js';
import { checkLabelSelector } from '../validation/labels.js';

const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const CONDITIONS_MAX = 64;
const FORM = '; desired format: https://host[/path]';

function webhookNameProblems(name: string): string[] {
  const found = dnsSubdomainProblems(name);
  if (found.length > 0) return [found.join(',')];
  if (name.split('.').length >= 3) return [];
  return ['should be a domain with at least three segments separated by dots'];
}

function checkWebhookRule(problems: Problems, field: string, rule: JsonObject): void {
  const operations = texts(rule, 'operations');
  if (operations.length === 0) problems.required(`${field}.operations`);
  if (operations.length > 1 && operations.includes('*')) {
    problems.invalid(`${field}.operations`, operations, "if '*' is present, must not specify other operations");
  }
  for (const [index, operation] of operations.entries()) {
    problems.oneOf(`${field}.operations[${index}]`, operation, OPERATIONS);
  }
  for (const [name, what] of Object.entries({ apiGroups: 'API groups', apiVersions: 'API versions' })) {
    problems.requiredMembers(rule, field, name);
    const values = texts(rule, name);
    if (values.length > 1 && values.includes('*')) {
      problems.invalid(`${field}.${name}`, values, `if '*' is present, must not specify other ${what}`);
    }
  }
  for (const [path, version] of eachText(rule, field, 'apiVersions')) if (version === '') problems.required(path);
  checkResources(problems, `${field}.resources`, texts(rule, 'resources'));
  problems.optionalOneOf(rule, field, 'scope', ['*', 'Cluster', 'Namespaced']);
}

function checkResources(problems: Problems, field: string, resources: readonly string[]): void {
  if (resources.length === 0) problems.required(field);
  const allOf = new Set<string>();
  const everywhere = new Set<string>();
  for (const [index, each] of resources.entries()) {
    const path = `${field}[${index}]`;
    if (each === '') problems.required(path);
    const [resource = '', part] = each.split(/\/(.*)/s);
    if (part === undefined) continue;
    if (allOf.has(resource)) problems.invalid(path, each, `if '${resource}/*' is present, must not specify ${each}`);
    if (everywhere.has(part)) problems.invalid(path, each, `if '*/${part}' is present, must not specify ${each}`);
    if (part === '*') allOf.add(resource);
    if (resource === '*') everywhere.add(part);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    problems.invalid(field, [...resources], "if '*/*' is present, must not specify other resources");
  }
  const hasOther = resources.some((each) => each !== '*' && !each.includes('/'));
  if (resources.includes('*') && hasOther) {
    problems.invalid(field, [...resources], "if '*' is present, must not specify other resources without subresources");
  }
}

function checkClient(problems: Problems, field: string, hook: JsonObject): void {
  const client = child(hook, 'clientConfig') ?? {};
  if (has(client, 'url') === has(client, 'service')) {
    problems.required(field, 'exactly one of url or service is required');
  } else if (has(client, 'url')) checkUrl(problems, `${field}.url`, text(client, 'url'));
  else checkService(problems, `${field}.service`, child(client, 'service')!);
}

function checkUrl(problems: Problems, field: string, value: string): void {
  const [, scheme = '', host = '', , query = '', fragment = ''] =
    /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(value) ?? [];
  const [user, place] = host.includes('@') ? host.split('@') : [undefined, host];
  if (scheme.toLowerCase() !== 'https')
    problems.invalid(field, scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (place === '') problems.invalid(field, '', `host must be specified${FORM}`);
  if (user !== undefined) problems.invalid(field, user, 'user information is not permitted in the URL');
  if (fragment !== '') problems.invalid(field, fragment, 'fragments are not permitted in the URL');
  if (query !== '') problems.invalid(field, query, 'query parameters are not permitted in the URL');
}

/** The port of a service that kube-apiserver calls: of a webhook or of an aggregated API. */
export function checkServicePort(problems: Problems, field: string, service: JsonObject): void {
  const port = number(service, 'port') ?? 0;
  const found = portNumberProblems(port);
  if (found.length > 0) problems.invalid(`${field}.port`, port, `port is not valid: ${found.join(', ')}`);
}

function checkService(problems: Problems, field: string, service: JsonObject): void {
  problems.requiredMembers(service, field, 'name', 'namespace');
  checkServicePort(problems, field, service);
  const path = text(service, 'path');
  if (path === '' || path === '/') return;
  if (!path.startsWith('/')) problems.invalid(`${field}.path`, path, "must start with a '/'");
  for (const [index, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') problems.invalid(`${field}.path`, path, `segment[${index}] may not be empty`);
    else
      for (const each of dnsSubdomainProblems(step))
        problems.invalid(`${field}.path`, path, `segment[${index}]: ${each}`);
  }
}

function checkHook(problems: Problems, field: string, hook: JsonObject): void {
  problems.requiredFormat(`${field}.name`, text(hook, 'name'), webhookNameProblems);
  for (const [path, rule] of eachObject(hook, field, 'rules')) checkWebhookRule(problems, path, rule);
  problems.oneOf(`${field}.failurePolicy`, text(hook, 'failurePolicy'), ['Fail', 'Ignore']);
  problems.oneOf(`${field}.matchPolicy`, text(hook, 'matchPolicy'), ['Equivalent', 'Exact']);
  if (!has(hook, 'sideEffects')) {
    problems.required(`${field}.sideEffects`, `must specify one of ${NO_SIDE_EFFECTS.join(', ')}`);
  } else problems.oneOf(`${field}.sideEffects`, text(hook, 'sideEffects'), NO_SIDE_EFFECTS);
  const seconds = number(hook, 'timeoutSeconds');
  if (seconds !== undefined && (seconds < 1 || seconds > 30)) {
    problems.invalid(`${field}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds');
  }
  for (const name of ['namespaceSelector', 'objectSelector']) {
    checkLabelSelector(problems, `${field}.${name}`, child(hook, name));
  }
  problems.optionalOneOf(hook, field, 'reinvocationPolicy', ['IfNeeded', 'Never']);
  checkClient(problems, `${field}.clientConfig`, hook);
  checkReviewVersions(problems, `${field}.admissionReviewVersions`, texts(hook, 'admissionReviewVersions'));
  checkConditions(problems, `${field}.matchConditions`, objects(hook, 'matchConditions'));
}

function checkReviewVersions(problems: Problems, field: string, versions: readonly string[]): void {
  if (versions.length === 0) problems.required(field, `must specify one of ${REVIEW_VERSIONS.join(', ')}`);
  else if (!versions.some((each) => REVIEW_VERSIONS.includes(each))) {
    problems.invalid(field, [...versions], `must include at least one of ${REVIEW_VERSIONS.join(', ')}`);
  }
}

function checkConditions(problems: Problems, field: string, conditions: readonly JsonObject[]): void {
  if (conditions.length > CONDITIONS_MAX) problems.tooMany(field, conditions.length, CONDITIONS_MAX);
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const name = text(condition, 'name');
    const path = `${field}[${index}]`;
    if (text(condition, 'expression').trim() === '') problems.required(`${path}.expression`);
    problems.requiredFormat(`${path}.name`, name, labelKeyProblems);
    problems.unique(`${path}.name`, name, names);
  }
}

const WEBHOOKS: KindRules = {
  updatesUnconditionally: false,
  generationChanges: membersChange('webhooks'),
  validate: (object, problems) => {
    const names = new Set<string>();
    for (const [path, hook] of eachObject(object, '', 'webhooks')) {
      checkHook(problems, path, hook);
      const name = text(hook, 'name');
      if (name !== '' && names.has(name)) problems.duplicate(`${path}.name`, name);
      names.add(name);
    }
  },
};

function checkPolicySpec(object: JsonObject, problems: Problems): void {
  const spec = specOf(object);
  problems.optionalOneOf(spec, 'spec', 'failurePolicy', ['Fail', 'Ignore']);
  const constraints = child(spec, 'matchConstraints');
  if (constraints === undefined) problems.required('spec.matchConstraints');
  else if (objects(constraints, 'resourceRules').length === 0) problems.required('spec.matchConstraints.resourceRules');
  for (const [path, rule] of eachObject(constraints, 'spec.matchConstraints', 'resourceRules')) {
    checkWebhookRule(problems, path, rule);
  }
  checkConditions(problems, 'spec.matchConditions', objects(spec, 'matchConditions'));
  for (const [path, validation] of eachObject(spec, 'spec', 'validations')) {
    if (text(validation, 'expression').trim() === '') {
      problems.required(`${path}.expression`, 'expression is not specified');
    }
  }
}

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function checkBindingSpec(object: JsonObject, problems: Problems): void {
  const spec = specOf(object);
  problems.requiredMembers(spec, 'spec', 'policyName');
  const actions = texts(spec, 'validationActions');
  if (actions.length === 0) problems.required('spec.validationActions', 'at least one validation action is required');
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    problems.oneOf(`spec.validationActions[${index}]`, action, ACTIONS);
    problems.unique(`spec.validationActions[${index}]`, action, seen);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const rule =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    problems.invalid('spec.validationActions', actions, rule);
  }
}

const GROUP = 'admissionregistration.k8s.io';
const ordinary = { updatesUnconditionally: false, generationChanges: specChanges } as const;

export const WEBHOOK_RULES: KindRulesTable = {
  [`${GROUP}/validatingwebhookconfigurations`]: WEBHOOKS,
  [`${GROUP}/mutatingwebhookconfigurations`]: WEBHOOKS,
  [`${GROUP}/validatingadmissionpolicies`]: {
    ...ordinary,
    validate: checkPolicySpec,
    parts: { status: RESET_STATUS },
  },
  [`${GROUP}/validatingadmissionpolicybindings`]: { ...ordinary, validate: checkBindingSpec },
  [`${GROUP}/mutatingadmissionpolicies`]: ordinary,
  [`${GROUP}/mutatingadmissionpolicybindings`]: ordinary,
};
