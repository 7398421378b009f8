import type { JsonObject } from '../../../kube/json.js';
import { addQuantities, compareAmounts, type QuantityMap, quantities } from '../amounts.js';
import {
  addressProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  idProblems,
  labelKeyProblems,
  searchProblems,
} from '../built-in-formats.js';
import { child, flag, has, number, objects, text, textMap, texts } from '../fields.js';
import type { Problems } from '../problems.js';
import {
  checkAppArmor,
  checkContainers,
  checkEphemeralContainers,
  checkInitContainers,
  checkSeccomp,
  type PodSurroundings,
} from './containers.js';
import { checkLabels } from './labels.js';
import { checkOverhead, checkRequirements } from './resources.js';
import { checkAffinity, checkSpreadConstraints, checkTolerations } from './scheduling.js';
import { checkVolumes } from './volumes.js';

const INT32_MAX = 2_147_483_647;
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

export interface PodSpecRules {
  /** Empty in templates. */
  readonly podName: string;
  readonly isPod: boolean;
}

/** Everything that kube-apiserver says about a pod's spec, in its order. */
export function checkPodSpec(problems: Problems, field: string, spec: JsonObject, rules: PodSpecRules): void {
  const pod: PodSurroundings = {
    spec,
    volumes: checkVolumes(problems, `${field}.volumes`, spec, rules.podName),
    claimNames: new Set(objects(spec, 'resourceClaims').map((each) => text(each, 'name'))),
  };
  checkResourceClaims(problems, `${field}.resourceClaims`, objects(spec, 'resourceClaims'));
  checkContainers(problems, `${field}.containers`, pod);
  checkInitContainers(problems, `${field}.initContainers`, pod);
  checkEphemeralContainers(problems, `${field}.ephemeralContainers`, pod);
  checkPodResources(problems, `${field}.resources`, spec);
  if (flag(spec, 'hostNetwork')) checkHostNetwork(problems, field, spec, rules);
  problems.oneOf(`${field}.restartPolicy`, text(spec, 'restartPolicy'), ['Always', 'OnFailure', 'Never']);
  problems.oneOf(`${field}.dnsPolicy`, text(spec, 'dnsPolicy'), [
    'ClusterFirstWithHostNet',
    'ClusterFirst',
    'Default',
    'None',
  ]);
  checkLabels(problems, `${field}.nodeSelector`, textMap(spec, 'nodeSelector'));
  checkSecurity(problems, `${field}.securityContext`, spec);
  checkAffinity(problems, `${field}.affinity`, child(spec, 'affinity'));
  checkDnsConfig(problems, `${field}.dnsConfig`, spec);
  checkGates(problems, field, spec);
  checkSpreadConstraints(problems, `${field}.topologySpreadConstraints`, objects(spec, 'topologySpreadConstraints'));
  checkHostUsers(problems, field, spec);
  checkNames(problems, field, spec);
  checkTolerations(problems, `${field}.tolerations`, objects(spec, 'tolerations'));
  checkHostAliases(problems, `${field}.hostAliases`, objects(spec, 'hostAliases'));
  checkReferences(problems, field, spec);
}

function checkPodResources(problems: Problems, field: string, spec: JsonObject): void {
  const resources = child(spec, 'resources');
  if (resources === undefined) return;
  if (has(resources, 'claims'))
    problems.forbidden(`${field}.claims`, 'claims may not be set for Resources at pod-level');
  checkRequirements(problems, field, resources, { level: 'pod', claimNames: new Set() });
  const asked: QuantityMap = new Map();
  for (const each of objects(spec, 'containers'))
    addQuantities(asked, quantities(child(each, 'resources'), 'requests'));
  const requests = quantities(resources, 'requests');
  for (const [name, sum] of asked) {
    const request = requests.get(name);
    if (request === undefined || compareAmounts(sum, request) <= 0) continue;
    const rule = `must be greater than or equal to aggregate container requests of ${sum}`;
    problems.invalid(`${field}.requests[${name}]`, request, rule);
  }
  const limits = quantities(resources, 'limits');
  for (const [index, container] of objects(spec, 'containers').entries()) {
    for (const [name, amount] of quantities(child(container, 'resources'), 'limits')) {
      const limit = limits.get(name);
      if (limit === undefined || compareAmounts(amount, limit) <= 0) continue;
      const path = `${field}.containers[${index}][${name}].limits`;
      problems.invalid(path, amount, `must be less than or equal to pod limits of ${limit}`);
    }
  }
}

function checkResourceClaims(problems: Problems, field: string, claims: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const path = `${field}[${index}]`;
    const name = text(claim, 'name');
    if (name === '') problems.required(`${path}.name`);
    else if (names.has(name)) problems.duplicate(`${path}.name`, name);
    else {
      problems.invalidEach(`${path}.name`, name, dnsLabelProblems(name));
      names.add(name);
    }
    const sources = ['resourceClaimName', 'resourceClaimTemplateName'].filter((each) => has(claim, each));
    const printed = {
      Name: name,
      ResourceClaimName: claim['resourceClaimName'] ?? null,
      ResourceClaimTemplateName: claim['resourceClaimTemplateName'] ?? null,
    };
    if (sources.length > 1) {
      problems.invalid(
        path,
        printed,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      );
    } else if (sources.length === 0) {
      problems.invalid(path, printed, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
    for (const source of sources) {
      problems.invalidEach(`${path}.${source}`, text(claim, source), dnsSubdomainProblems(text(claim, source)));
    }
  }
}

/** A pod with users of its own has its own of everything. */
function checkHostUsers(problems: Problems, field: string, spec: JsonObject): void {
  if (spec['hostUsers'] !== false) return;
  for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) {
    if (flag(spec, name)) problems.forbidden(`${field}.${name}`, 'when `hostUsers` is false');
  }
}

const NOT_OF_WINDOWS_PODS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
];
const NOT_OF_WINDOWS_CONTAINERS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function checkWindows(problems: Problems, field: string, spec: JsonObject): void {
  const refuse = (path: string, object: JsonObject | undefined, names: readonly string[]): void => {
    for (const name of names)
      if (has(object, name)) problems.forbidden(`${path}.${name}`, 'cannot be set for a windows pod');
  };
  refuse(`${field}.securityContext`, child(spec, 'securityContext'), NOT_OF_WINDOWS_PODS);
  for (const name of ['hostPID', 'hostIPC']) if (flag(spec, name)) refuse(field, spec, [name]);
  for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const [index, container] of objects(spec, list).entries()) {
      const path = `${field}.${list}[${index}].securityContext`;
      refuse(path, child(container, 'securityContext'), NOT_OF_WINDOWS_CONTAINERS);
    }
  }
}

function checkHostNetwork(problems: Problems, field: string, spec: JsonObject, { isPod }: PodSpecRules): void {
  for (const [index, container] of objects(spec, 'containers').entries()) {
    for (const [at, port] of objects(container, 'ports').entries()) {
      const hostPort = number(port, 'hostPort') ?? 0;
      if ((isPod || hostPort !== 0) && hostPort !== number(port, 'containerPort')) {
        problems.invalid(
          `${field}.containers[${index}].ports[${at}].hostPort`,
          hostPort,
          'must match `containerPort` when `hostNetwork` is true',
        );
      }
    }
  }
}

function checkSecurity(problems: Problems, field: string, spec: JsonObject): void {
  const context = child(spec, 'securityContext');
  if (context === undefined) return;
  for (const name of ['fsGroup', 'runAsUser', 'runAsGroup']) {
    const id = number(context, name);
    if (id !== undefined) problems.invalidEach(`${field}.${name}`, id, idProblems(id));
  }
  const groups = context['supplementalGroups'];
  for (const [index, id] of (Array.isArray(groups) ? groups : []).entries()) {
    problems.invalidEach(`${field}.supplementalGroups[${index}]`, id, idProblems(Number(id)));
  }
  if (flag(spec, 'shareProcessNamespace') && flag(spec, 'hostPID')) {
    const rule = 'ShareProcessNamespace and HostPID cannot both be enabled';
    problems.invalid(`${field}.shareProcessNamespace`, true, rule);
  }
  checkSysctls(problems, `${field}.sysctls`, objects(context, 'sysctls'));
  if (has(context, 'fsGroupChangePolicy')) {
    problems.oneOf(`${field}.fsGroupChangePolicy`, text(context, 'fsGroupChangePolicy'), ['Always', 'OnRootMismatch']);
  }
  checkSeccomp(problems, `${field}.seccompProfile`, child(context, 'seccompProfile'));
  checkAppArmor(problems, `${field}.appArmorProfile`, child(context, 'appArmorProfile'));
}

function checkSysctls(problems: Problems, field: string, sysctls: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [index, each] of sysctls.entries()) {
    const name = text(each, 'name');
    const path = `${field}[${index}].name`;
    if (name === '') problems.required(path);
    else if (name.length > 253 || !SYSCTL.test(name)) {
      problems.invalid(path, name, `must have at most 253 characters and match regex ${SYSCTL_TEXT}`);
    } else if (seen.has(name)) problems.duplicate(path, name);
    seen.add(name);
  }
}

function checkDnsConfig(problems: Problems, field: string, spec: JsonObject): void {
  const config = child(spec, 'dnsConfig');
  const nameservers = texts(config, 'nameservers');
  if (text(spec, 'dnsPolicy') === 'None') {
    if (config === undefined) {
      problems.required(field, 'must provide `dnsConfig` when `dnsPolicy` is None');
      return;
    }
    if (nameservers.length === 0) {
      problems.required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None');
      return;
    }
  }
  if (nameservers.length > NAMESERVERS_MAX) {
    problems.invalid(`${field}.nameservers`, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`);
  }
  for (const [index, each] of nameservers.entries()) {
    problems.invalidEach(`${field}.nameservers[${index}]`, each, addressProblems(each));
  }
  const searches = texts(config, 'searches');
  if (searches.length > SEARCHES_MAX) {
    problems.invalid(`${field}.searches`, searches, `must not have more than ${SEARCHES_MAX} search paths`);
  }
  for (const [index, each] of searches.entries()) {
    const name = each.replace(/\.$/, '');
    if (each !== '.') problems.invalidEach(`${field}.searches[${index}]`, name, searchProblems(name));
  }
  for (const [index, option] of objects(config, 'options').entries()) {
    if (text(option, 'name') === '') problems.required(`${field}.options[${index}]`, 'must not be empty');
  }
}

function checkGates(problems: Problems, field: string, spec: JsonObject): void {
  for (const [index, gate] of objects(spec, 'readinessGates').entries()) {
    const type = text(gate, 'conditionType');
    problems.invalidEach(`${field}.readinessGates[${index}].conditionType`, type, labelKeyProblems(type));
  }
  const seen = new Set<string>();
  for (const [index, gate] of objects(spec, 'schedulingGates').entries()) {
    const name = text(gate, 'name');
    problems.invalidEach(`${field}.schedulingGates[${index}]`, name, labelKeyProblems(name));
    if (seen.has(name)) problems.duplicate(`${field}.schedulingGates[${index}]`, name);
    seen.add(name);
  }
}

function checkNames(problems: Problems, field: string, spec: JsonObject): void {
  for (const name of ['serviceAccountName', 'nodeName']) {
    const value = text(spec, name);
    if (value !== '') problems.invalidEach(`${field}.${name}`, value, dnsSubdomainProblems(value));
  }
  const deadline = number(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > INT32_MAX)) {
    problems.invalid(`${field}.activeDeadlineSeconds`, deadline, `must be between 1 and ${INT32_MAX}, inclusive`);
  }
  for (const name of ['hostname', 'subdomain']) {
    const value = text(spec, name);
    if (value !== '') problems.invalidEach(`${field}.${name}`, value, dnsLabelProblems(value));
  }
}

function checkHostAliases(problems: Problems, field: string, aliases: readonly JsonObject[]): void {
  for (const [index, alias] of aliases.entries()) {
    const address = text(alias, 'ip');
    problems.invalidEach(`${field}[${index}].ip`, address, addressProblems(address));
    for (const [at, name] of texts(alias, 'hostnames').entries()) {
      problems.invalidEach(`${field}[${index}].hostnames[${at}]`, name, dnsSubdomainProblems(name));
    }
  }
}

function checkReferences(problems: Problems, field: string, spec: JsonObject): void {
  for (const name of ['priorityClassName', 'runtimeClassName']) {
    const value = text(spec, name);
    if (value !== '') problems.invalidEach(`${field}.${name}`, value, dnsSubdomainProblems(value));
  }
  if (has(spec, 'preemptionPolicy')) {
    problems.oneOf(`${field}.preemptionPolicy`, text(spec, 'preemptionPolicy'), ['PreemptLowerPriority', 'Never']);
  }
  checkOverhead(problems, `${field}.overhead`, child(spec, 'overhead'));
  const system = child(spec, 'os');
  if (system === undefined) return;
  const name = text(system, 'name');
  if (name === '') problems.required(`${field}.os.name`, 'cannot be empty');
  else problems.oneOf(`${field}.os`, name, ['linux', 'windows']);
  if (name === 'windows') checkWindows(problems, field, spec);
}

/** `metadata` of a template has no name; its spec is that of a pod. */
export function checkPodTemplate(problems: Problems, field: string, template: JsonObject | undefined): void {
  const metadata = child(template, 'metadata');
  checkLabels(problems, `${field}.labels`, textMap(metadata, 'labels'));
  checkPodSpec(problems, `${field}.spec`, child(template, 'spec') ?? {}, { podName: '', isPod: false });
  if (objects(child(template, 'spec'), 'ephemeralContainers').length > 0) {
    problems.forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template');
  }
}
