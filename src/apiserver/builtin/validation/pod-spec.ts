import type { JsonObject } from '../../../kube/json.js';
import { addQuantities, compareAmounts, type QuantityMap, quantities } from '../amounts.js';
import {
  addressProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  INT32_MAX,
  idProblems,
  labelKeyProblems,
  searchProblems,
} from '../built-in-formats.js';
import { child, eachObject, eachText, flag, has, number, objects, specOf, text, textMap, texts } from '../fields.js';
import type { Problems } from '../problems.js';
import {
  checkContainers,
  checkEphemeralContainers,
  checkInitContainers,
  checkProfiles,
  type PodSurroundings,
} from './containers.js';
import { checkLabels } from './labels.js';
import { checkOverhead, checkRequirements } from './resources.js';
import { checkAffinity, checkSpreadConstraints, checkTolerations } from './scheduling.js';
import { checkVolumes } from './volumes.js';

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

interface PodSpecRules {
  /** Empty for templates. */
  readonly podName: string;
  readonly isPod: boolean;
}

/** Checks a pod's spec. The order of the checks is kube-apiserver's. */
export function checkPodSpec(problems: Problems, field: string, spec: JsonObject, rules: PodSpecRules): void {
  const pod: PodSurroundings = {
    spec,
    volumes: checkVolumes(problems, field, spec, rules.podName),
    claimNames: new Set(objects(spec, 'resourceClaims').map((each) => text(each, 'name'))),
  };
  checkResourceClaims(problems, field, spec);
  checkContainers(problems, field, pod);
  checkInitContainers(problems, field, pod);
  checkEphemeralContainers(problems, field, pod);
  checkPodResources(problems, `${field}.resources`, spec);
  if (flag(spec, 'hostNetwork')) checkHostNetwork(problems, field, spec, rules);
  problems.oneOf(`${field}.restartPolicy`, text(spec, 'restartPolicy'), ['Always', 'OnFailure', 'Never']);
  problems.oneOf(`${field}.dnsPolicy`, text(spec, 'dnsPolicy'), DNS_POLICIES);
  checkLabels(problems, `${field}.nodeSelector`, textMap(spec, 'nodeSelector'));
  checkSecurity(problems, `${field}.securityContext`, spec);
  checkAffinity(problems, `${field}.affinity`, child(spec, 'affinity'));
  checkDnsConfig(problems, `${field}.dnsConfig`, spec);
  checkGates(problems, field, spec);
  checkSpreadConstraints(problems, field, spec);
  checkHostUsers(problems, field, spec);
  checkNames(problems, field, spec);
  checkTolerations(problems, field, spec);
  checkHostAliases(problems, field, spec);
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
  for (const [place, container] of eachObject(spec, field, 'containers')) {
    for (const [name, amount] of quantities(child(container, 'resources'), 'limits')) {
      const limit = limits.get(name);
      if (limit === undefined || compareAmounts(amount, limit) <= 0) continue;
      const path = `${place}[${name}].limits`;
      problems.invalid(path, amount, `must be less than or equal to pod limits of ${limit}`);
    }
  }
}

function checkResourceClaims(problems: Problems, field: string, spec: JsonObject): void {
  const names = new Set<string>();
  for (const [path, claim] of eachObject(spec, field, 'resourceClaims')) {
    const name = text(claim, 'name');
    if (name === '') problems.required(`${path}.name`);
    else if (names.has(name)) problems.duplicate(`${path}.name`, name);
    else {
      problems.format(`${path}.name`, name, dnsLabelProblems);
      names.add(name);
    }
    const sources = ['resourceClaimName', 'resourceClaimTemplateName'].filter((each) => has(claim, each));
    const printed = {
      Name: name,
      ResourceClaimName: claim['resourceClaimName'] ?? null,
      ResourceClaimTemplateName: claim['resourceClaimTemplateName'] ?? null,
    };
    if (sources.length > 1) {
      const rule = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      problems.invalid(path, printed, rule);
    } else if (sources.length === 0) {
      problems.invalid(path, printed, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
    for (const source of sources) {
      problems.format(`${path}.${source}`, text(claim, source), dnsSubdomainProblems);
    }
  }
}

/** A pod with its own user namespace shares no other namespace with the host. */
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
  for (const [path, container] of eachObject(spec, field, 'containers')) {
    for (const [place, port] of eachObject(container, path, 'ports')) {
      const hostPort = number(port, 'hostPort') ?? 0;
      if ((isPod || hostPort !== 0) && hostPort !== number(port, 'containerPort')) {
        problems.invalid(`${place}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true');
      }
    }
  }
}

function checkSecurity(problems: Problems, field: string, spec: JsonObject): void {
  const context = child(spec, 'securityContext');
  if (context === undefined) return;
  for (const name of ['fsGroup', 'runAsUser', 'runAsGroup']) {
    const id = number(context, name);
    if (id !== undefined) problems.format(`${field}.${name}`, id, idProblems);
  }
  const groups = context['supplementalGroups'];
  for (const [index, id] of (Array.isArray(groups) ? groups : []).entries()) {
    problems.invalidEach(`${field}.supplementalGroups[${index}]`, id, idProblems(Number(id)));
  }
  if (flag(spec, 'shareProcessNamespace') && flag(spec, 'hostPID')) {
    const rule = 'ShareProcessNamespace and HostPID cannot both be enabled';
    problems.invalid(`${field}.shareProcessNamespace`, true, rule);
  }
  checkSysctls(problems, field, context);
  problems.optionalOneOf(context, field, 'fsGroupChangePolicy', ['Always', 'OnRootMismatch']);
  checkProfiles(problems, field, context);
}

function checkSysctls(problems: Problems, field: string, context: JsonObject): void {
  const seen = new Set<string>();
  for (const [path, each] of eachObject(context, field, 'sysctls')) {
    const name = text(each, 'name');
    if (name === '') problems.required(`${path}.name`);
    else if (name.length > 253 || !SYSCTL.test(name)) {
      problems.invalid(`${path}.name`, name, `must have at most 253 characters and match regex ${SYSCTL_TEXT}`);
    } else problems.unique(`${path}.name`, name, seen);
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
  for (const [path, each] of eachText(config, field, 'nameservers')) problems.format(path, each, addressProblems);
  const searches = texts(config, 'searches');
  if (searches.length > SEARCHES_MAX) {
    problems.invalid(`${field}.searches`, searches, `must not have more than ${SEARCHES_MAX} search paths`);
  }
  for (const [path, each] of eachText(config, field, 'searches')) {
    if (each !== '.') problems.format(path, each.replace(/\.$/, ''), searchProblems);
  }
  for (const [path, option] of eachObject(config, field, 'options')) {
    if (text(option, 'name') === '') problems.required(path, 'must not be empty');
  }
}

function checkGates(problems: Problems, field: string, spec: JsonObject): void {
  for (const [path, gate] of eachObject(spec, field, 'readinessGates')) {
    problems.format(`${path}.conditionType`, text(gate, 'conditionType'), labelKeyProblems);
  }
  const seen = new Set<string>();
  for (const [path, gate] of eachObject(spec, field, 'schedulingGates')) {
    const name = text(gate, 'name');
    problems.format(path, name, labelKeyProblems);
    problems.unique(path, name, seen);
  }
}

function checkNames(problems: Problems, field: string, spec: JsonObject): void {
  for (const name of ['serviceAccountName', 'nodeName']) {
    problems.optionalFormat(`${field}.${name}`, text(spec, name), dnsSubdomainProblems);
  }
  const deadline = number(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > INT32_MAX)) {
    problems.invalid(`${field}.activeDeadlineSeconds`, deadline, `must be between 1 and ${INT32_MAX}, inclusive`);
  }
  for (const name of ['hostname', 'subdomain']) {
    problems.optionalFormat(`${field}.${name}`, text(spec, name), dnsLabelProblems);
  }
}

function checkHostAliases(problems: Problems, field: string, spec: JsonObject): void {
  for (const [path, alias] of eachObject(spec, field, 'hostAliases')) {
    problems.format(`${path}.ip`, text(alias, 'ip'), addressProblems);
    for (const [place, name] of eachText(alias, path, 'hostnames')) problems.format(place, name, dnsSubdomainProblems);
  }
}

function checkReferences(problems: Problems, field: string, spec: JsonObject): void {
  for (const name of ['priorityClassName', 'runtimeClassName']) {
    problems.optionalFormat(`${field}.${name}`, text(spec, name), dnsSubdomainProblems);
  }
  problems.optionalOneOf(spec, field, 'preemptionPolicy', ['PreemptLowerPriority', 'Never']);
  checkOverhead(problems, `${field}.overhead`, child(spec, 'overhead'));
  const system = child(spec, 'os');
  if (system === undefined) return;
  const name = text(system, 'name');
  if (name === '') problems.required(`${field}.os.name`, 'cannot be empty');
  else problems.oneOf(`${field}.os`, name, ['linux', 'windows']);
  if (name === 'windows') checkWindows(problems, field, spec);
}

export function checkPodTemplate(problems: Problems, field: string, template: JsonObject | undefined): void {
  const metadata = child(template, 'metadata');
  checkLabels(problems, `${field}.labels`, textMap(metadata, 'labels'));
  checkPodSpec(problems, `${field}.spec`, specOf(template), { podName: '', isPod: false });
  if (objects(child(template, 'spec'), 'ephemeralContainers').length > 0) {
    problems.forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template');
  }
}
