import type { JsonObject } from '../../../kube/json.js';
import { dnsLabelProblems } from '../built-in-formats.js';
import { child, eachObject, has, number, objects, specOf, text } from '../fields.js';
import {
  type KindRules,
  type KindRulesTable,
  keepsMember,
  RESET_STATUS,
  type RuleContext,
  specChanges,
} from '../kind-rules.js';
import type { Problems } from '../problems.js';

const PRECEDENCE_MAX = 10_000;

function checkFlowSchema(object: JsonObject, problems: Problems): void {
  const spec = specOf(object);
  const precedence = number(spec, 'matchingPrecedence') ?? 0;
  if (precedence <= 0) problems.invalid('spec.matchingPrecedence', precedence, 'must be a positive value');
  else if (precedence > PRECEDENCE_MAX) {
    problems.invalid('spec.matchingPrecedence', precedence, `must not be greater than ${PRECEDENCE_MAX}`);
  }
  if (text(child(spec, 'priorityLevelConfiguration'), 'name') === '') {
    problems.required('spec.priorityLevelConfiguration.name', 'must reference a priority level');
  }
  for (const [field, rule] of eachObject(spec, 'spec', 'rules')) {
    if (objects(rule, 'subjects').length === 0) {
      problems.required(`${field}.subjects`, 'subjects must contain at least one value');
    }
    if (objects(rule, 'resourceRules').length + objects(rule, 'nonResourceRules').length === 0) {
      problems.required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty');
    }
  }
}

function checkPriorityLevel(object: JsonObject, problems: Problems, { surface: { minor } }: RuleContext): void {
  const spec = specOf(object);
  const type = text(spec, 'type');
  if (type === 'Limited') {
    if (!has(spec, 'limited')) {
      problems.required('spec.limited', minor >= 37 ? '' : 'must not be empty when type is Limited');
    }
    if (has(spec, 'exempt')) problems.forbidden('spec.exempt', 'must be nil if the type is Limited');
  } else if (type === 'Exempt') {
    if (has(spec, 'limited')) problems.forbidden('spec.limited', 'must be nil if the type is not Limited');
  } else problems.unsupported('spec.type', type, ['Exempt', 'Limited']);
}

function checkDeviceRequests(problems: Problems, field: string, claim: JsonObject): void {
  const names = new Set<string>();
  for (const [path, request] of eachObject(child(claim, 'devices'), `${field}.devices`, 'requests')) {
    const name = text(request, 'name');
    problems.requiredFormat(`${path}.name`, name, dnsLabelProblems);
    problems.unique(`${path}.name`, name, names);
    const exactly = child(request, 'exactly');
    const isOneOf = (exactly !== undefined) !== objects(request, 'firstAvailable').length > 0;
    if (!isOneOf) problems.required(path, 'exactly one of `exactly` or `firstAvailable` is required');
    if (exactly !== undefined && text(exactly, 'deviceClassName') === '') {
      problems.required(`${path}.exactly.deviceClassName`);
    }
  }
}

const RESOURCE_CLAIMS: KindRules = {
  validateCreate: (object, problems) => checkDeviceRequests(problems, 'spec', specOf(object)),
  validateUpdate: (object, live, problems) => keepsMember(problems, 'spec', object, live),
  parts: { status: RESET_STATUS },
};

const RESOURCE_CLAIM_TEMPLATES: KindRules = {
  validateCreate: (object, problems) => checkDeviceRequests(problems, 'spec.spec', specOf(specOf(object))),
  validateUpdate: (object, live, problems) => keepsMember(problems, 'spec', object, live),
};

export const SHARING_RULES: KindRulesTable = {
  'flowcontrol.apiserver.k8s.io/flowschemas': { generationChanges: specChanges, validate: checkFlowSchema },
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': {
    generationChanges: specChanges,
    validate: checkPriorityLevel,
  },
  'resource.k8s.io/resourceclaims': RESOURCE_CLAIMS,
  'resource.k8s.io/resourceclaimtemplates': RESOURCE_CLAIM_TEMPLATES,
};
