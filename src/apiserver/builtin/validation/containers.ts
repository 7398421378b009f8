import type { JsonObject } from '../../../kube/json.js';
import { dnsLabelProblems, idProblems, PROTOCOLS, portNameProblems, portNumberProblems } from '../built-in-formats.js';
import { child, eachObject, flag, has, number, objects, text, texts } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkEnvironment } from './environment.js';
import { checkLifecycle, checkProbes } from './handlers.js';
import { checkRequirements } from './resources.js';
import { checkMounts } from './volumes.js';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];

/** The parts of a pod that the checks of its containers need. */
export interface PodSurroundings {
  readonly spec: JsonObject;
  /** Volumes without problems, by name. */
  readonly volumes: ReadonlyMap<string, JsonObject>;
  readonly claimNames: ReadonlySet<string>;
}

export function checkContainers(problems: Problems, field: string, pod: PodSurroundings): void {
  problems.requiredMembers(pod.spec, field, 'containers');
  const names = new Set<string>();
  for (const [path, container] of eachObject(pod.spec, field, 'containers')) {
    checkContainer(problems, path, container, pod);
    problems.unique(`${path}.name`, text(container, 'name'), names);
    checkLifecycle(problems, path, container, pod.spec);
    checkProbes(problems, path, container, pod.spec);
    checkRestartPolicy(problems, path, container);
  }
  checkHostPorts(problems, `${field}.containers`, objects(pod.spec, 'containers'));
}

export function checkInitContainers(problems: Problems, field: string, pod: PodSurroundings): void {
  const names = new Set(objects(pod.spec, 'containers').map((each) => text(each, 'name')));
  for (const [path, container] of eachObject(pod.spec, field, 'initContainers')) {
    checkContainer(problems, path, container, pod);
    checkRestartPolicy(problems, path, container);
    const name = text(container, 'name');
    if (names.has(name)) problems.duplicate(`${path}.name`, name);
    else if (name !== '') names.add(name);
    checkHostPorts(problems, `${field}.initContainers`, [container]);
    if (text(container, 'restartPolicy') === 'Always') {
      checkLifecycle(problems, path, container, pod.spec);
      checkProbes(problems, path, container, pod.spec);
      continue;
    }
    for (const each of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
      if (has(container, each)) {
        problems.forbidden(`${path}.${each}`, 'may not be set for init containers without restartPolicy=Always');
      }
    }
    for (const [place, policy] of eachObject(container, path, 'resizePolicy')) {
      if (text(policy, 'restartPolicy') !== 'RestartContainer') continue;
      const rule = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      problems.invalid(`${place}.restartPolicy`, 'RestartContainer', rule);
    }
  }
}

/** Fields that an ephemeral container may not have, in the order of Kubernetes' type. */
const NOT_OF_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

export function checkEphemeralContainers(problems: Problems, field: string, pod: PodSurroundings): void {
  const others = new Set(
    [...objects(pod.spec, 'containers'), ...objects(pod.spec, 'initContainers')].map((each) => text(each, 'name')),
  );
  const names = new Set(others);
  for (const [path, container] of eachObject(pod.spec, field, 'ephemeralContainers')) {
    checkContainer(problems, path, container, pod);
    checkImageText(problems, path, container);
    problems.unique(`${path}.name`, text(container, 'name'), names);
    const target = text(container, 'targetContainerName');
    if (target !== '' && !others.has(target)) problems.notFound(`${path}.targetContainerName`, target);
    for (const each of NOT_OF_EPHEMERAL) {
      const value = container[each];
      const isSet = value !== undefined && !(each === 'resources' && Object.keys(value as JsonObject).length === 0);
      if (isSet) problems.forbidden(`${path}.${each}`, 'cannot be set for an Ephemeral Container');
    }
    for (const [place, mount] of eachObject(container, path, 'volumeMounts')) {
      for (const each of ['subPath', 'subPathExpr']) {
        if (text(mount, each) === '') continue;
        problems.forbidden(`${place}.${each}`, 'cannot be set for an Ephemeral Container');
      }
    }
  }
}

/** Called for pods only: kube-apiserver does not check the images of templates. */
export function checkImageText(problems: Problems, field: string, container: JsonObject): void {
  const image = text(container, 'image');
  if (image !== image.trim()) problems.invalid(`${field}.image`, image, 'must not have leading or trailing whitespace');
}

function checkContainer(problems: Problems, field: string, container: JsonObject, pod: PodSurroundings): void {
  problems.requiredFormat(`${field}.name`, text(container, 'name'), dnsLabelProblems);
  problems.requiredMembers(container, field, 'image');
  const messagePolicy = text(container, 'terminationMessagePolicy');
  problems.oneOf(`${field}.terminationMessagePolicy`, messagePolicy, ['File', 'FallbackToLogsOnError']);
  checkPorts(problems, field, container);
  checkEnvironment(problems, field, container);
  checkMounts(problems, field, container, pod.volumes);
  problems.oneOf(`${field}.imagePullPolicy`, text(container, 'imagePullPolicy'), PULL_POLICIES);
  checkRequirements(problems, `${field}.resources`, child(container, 'resources'), {
    level: 'container',
    claimNames: pod.claimNames,
  });
  checkResizePolicy(problems, `${field}.resizePolicy`, container, text(pod.spec, 'restartPolicy'));
  checkSecurityContext(problems, `${field}.securityContext`, child(container, 'securityContext'));
}

function checkPorts(problems: Problems, field: string, container: JsonObject): void {
  const names = new Set<string>();
  for (const [path, port] of eachObject(container, field, 'ports')) {
    const name = text(port, 'name');
    if (name !== '') {
      const found = portNameProblems(name);
      problems.invalidEach(`${path}.name`, name, found);
      if (found.length === 0 && names.has(name)) problems.duplicate(`${path}.name`, name);
      else names.add(name);
    }
    const containerPort = number(port, 'containerPort') ?? 0;
    if (containerPort === 0) problems.required(`${path}.containerPort`);
    else problems.format(`${path}.containerPort`, containerPort, portNumberProblems);
    const hostPort = number(port, 'hostPort') ?? 0;
    if (hostPort !== 0) problems.format(`${path}.hostPort`, hostPort, portNumberProblems);
    problems.oneOf(`${path}.protocol`, text(port, 'protocol'), PROTOCOLS);
  }
}

function checkHostPorts(problems: Problems, field: string, containers: readonly JsonObject[]): void {
  const used = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [path, port] of eachObject(container, `${field}[${index}]`, 'ports')) {
      const hostPort = number(port, 'hostPort') ?? 0;
      if (hostPort === 0) continue;
      const key = `${text(port, 'protocol')}/${text(port, 'hostIP')}/${hostPort}`;
      problems.unique(`${path}.hostPort`, key, used);
    }
  }
}

function checkResizePolicy(problems: Problems, field: string, container: JsonObject, podRestart: string): void {
  const seen = new Set<string>();
  for (const [index, policy] of objects(container, 'resizePolicy').entries()) {
    const resource = text(policy, 'resourceName');
    const restart = text(policy, 'restartPolicy');
    problems.unique(`${field}[${index}]`, resource, seen);
    if (resource === '') problems.required(field);
    else problems.oneOf(field, resource, ['cpu', 'memory']);
    if (restart === '') problems.required(field);
    else problems.oneOf(field, restart, ['NotRequired', 'RestartContainer']);
    if (podRestart === 'Never' && restart !== 'NotRequired') {
      problems.invalid(field, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

function checkRestartPolicy(problems: Problems, field: string, container: JsonObject): void {
  const rules = objects(container, 'restartPolicyRules');
  if (!has(container, 'restartPolicy')) {
    if (rules.length > 0) {
      problems.required(`${field}.restartPolicy`, 'must specify restartPolicy when restart rules are used');
    }
    return;
  }
  problems.oneOf(`${field}.restartPolicy`, text(container, 'restartPolicy'), RESTART_POLICIES);
}

/** A security context as problems print it, with all fields. */
function printedSecurityContext(context: JsonObject): JsonObject {
  const get = (name: string): JsonObject[string] => context[name] ?? null;
  return {
    Capabilities: get('capabilities'),
    Privileged: get('privileged'),
    SELinuxOptions: get('seLinuxOptions'),
    WindowsOptions: get('windowsOptions'),
    RunAsUser: get('runAsUser'),
    RunAsGroup: get('runAsGroup'),
    RunAsNonRoot: get('runAsNonRoot'),
    ReadOnlyRootFilesystem: get('readOnlyRootFilesystem'),
    AllowPrivilegeEscalation: get('allowPrivilegeEscalation'),
    ProcMount: get('procMount'),
    SeccompProfile: get('seccompProfile'),
    AppArmorProfile: get('appArmorProfile'),
  };
}

function checkSecurityContext(problems: Problems, field: string, context: JsonObject | undefined): void {
  if (context === undefined) return;
  for (const name of ['runAsUser', 'runAsGroup']) {
    const id = number(context, name);
    if (id !== undefined) problems.format(`${field}.${name}`, id, idProblems);
  }
  problems.optionalOneOf(context, field, 'procMount', ['Default', 'Unmasked']);
  checkProfiles(problems, field, context);
  if (context['allowPrivilegeEscalation'] !== false) return;
  const conflict = (other: string): void =>
    problems.invalid(
      field,
      printedSecurityContext(context),
      `cannot set \`allowPrivilegeEscalation\` to false and ${other}`,
    );
  if (flag(context, 'privileged')) conflict('`privileged` to true');
  const isAdmin = texts(child(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN');
  if (isAdmin) conflict('`capabilities.Add` CAP_SYS_ADMIN');
}

/** The seccomp and AppArmor profiles of a pod or a container. */
export function checkProfiles(problems: Problems, field: string, context: JsonObject): void {
  for (const [key, word] of Object.entries({ seccompProfile: 'seccomp', appArmorProfile: 'AppArmor' })) {
    const profile = child(context, key);
    if (profile === undefined) continue;
    const type = text(profile, 'type');
    if (type === '') problems.required(`${field}.${key}.type`, `type is required when ${key} is set`);
    else problems.oneOf(`${field}.${key}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
    const path = text(profile, 'localhostProfile');
    if (type === 'Localhost' && path === '') {
      problems.required(`${field}.${key}.localhostProfile`, `must be set when ${word} type is Localhost`);
    } else if (type !== 'Localhost' && path !== '') {
      problems.invalid(`${field}.${key}.localhostProfile`, path, `can only be set when ${word} type is Localhost`);
    }
  }
}
