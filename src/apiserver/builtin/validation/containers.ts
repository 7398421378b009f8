import type { JsonObject } from '../../../kube/json.js';
import { dnsLabelProblems, idProblems, portNameProblems, portNumberProblems } from '../built-in-formats.js';
import { child, flag, has, number, objects, text, texts } from '../fields.js';
import type { Problems } from '../problems.js';
import { checkEnvironment } from './environment.js';
import { checkLifecycle, checkProbes } from './handlers.js';
import { checkRequirements } from './resources.js';
import { checkMounts } from './volumes.js';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];

/** What containers are checked against. */
export interface PodSurroundings {
  readonly spec: JsonObject;
  /** Good volumes, by name. */
  readonly volumes: ReadonlyMap<string, JsonObject>;
  readonly claimNames: ReadonlySet<string>;
}

export function checkContainers(problems: Problems, field: string, pod: PodSurroundings): void {
  const containers = objects(pod.spec, 'containers');
  if (containers.length === 0) {
    problems.required(field);
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const path = `${field}[${index}]`;
    checkContainer(problems, path, container, pod);
    const name = text(container, 'name');
    if (names.has(name)) problems.duplicate(`${path}.name`, name);
    names.add(name);
    checkLifecycle(problems, path, container, pod.spec);
    checkProbes(problems, path, container, pod.spec);
    checkRestartPolicy(problems, path, container);
  }
  checkHostPorts(problems, field, containers);
}

export function checkInitContainers(problems: Problems, field: string, pod: PodSurroundings): void {
  const names = new Set(objects(pod.spec, 'containers').map((each) => text(each, 'name')));
  for (const [index, container] of objects(pod.spec, 'initContainers').entries()) {
    const path = `${field}[${index}]`;
    checkContainer(problems, path, container, pod);
    checkRestartPolicy(problems, path, container);
    const name = text(container, 'name');
    if (names.has(name)) problems.duplicate(`${path}.name`, name);
    else if (name !== '') names.add(name);
    checkHostPorts(problems, field, [container]);
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
    for (const [number, policy] of objects(container, 'resizePolicy').entries()) {
      if (text(policy, 'restartPolicy') !== 'RestartContainer') continue;
      problems.invalid(
        `${path}.resizePolicy[${number}].restartPolicy`,
        'RestartContainer',
        "must not be set to 'RestartContainer' for non-sidecar initContainers",
      );
    }
  }
}

/** In the order of Kubernetes' type, without what may be set. */
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
  for (const [index, container] of objects(pod.spec, 'ephemeralContainers').entries()) {
    const path = `${field}[${index}]`;
    checkContainer(problems, path, container, pod);
    checkImageText(problems, path, container);
    const name = text(container, 'name');
    if (names.has(name)) problems.duplicate(`${path}.name`, name);
    names.add(name);
    const target = text(container, 'targetContainerName');
    if (target !== '' && !others.has(target)) problems.notFound(`${path}.targetContainerName`, target);
    for (const each of NOT_OF_EPHEMERAL) {
      const value = container[each];
      const isSet = value !== undefined && !(each === 'resources' && Object.keys(value as JsonObject).length === 0);
      if (isSet) problems.forbidden(`${path}.${each}`, 'cannot be set for an Ephemeral Container');
    }
    for (const [number, mount] of objects(container, 'volumeMounts').entries()) {
      for (const each of ['subPath', 'subPathExpr']) {
        if (text(mount, each) === '') continue;
        problems.forbidden(`${path}.volumeMounts[${number}].${each}`, 'cannot be set for an Ephemeral Container');
      }
    }
  }
}

/** Pods only: templates may hold anything that looks like an image. */
export function checkImageText(problems: Problems, field: string, container: JsonObject): void {
  const image = text(container, 'image');
  if (image !== image.trim()) problems.invalid(`${field}.image`, image, 'must not have leading or trailing whitespace');
}

function checkContainer(problems: Problems, field: string, container: JsonObject, pod: PodSurroundings): void {
  const name = text(container, 'name');
  if (name === '') problems.required(`${field}.name`);
  else problems.invalidEach(`${field}.name`, name, dnsLabelProblems(name));
  if (text(container, 'image') === '') problems.required(`${field}.image`);
  problems.oneOf(`${field}.terminationMessagePolicy`, text(container, 'terminationMessagePolicy'), [
    'File',
    'FallbackToLogsOnError',
  ]);
  checkPorts(problems, `${field}.ports`, objects(container, 'ports'));
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

function checkPorts(problems: Problems, field: string, ports: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `${field}[${index}]`;
    const name = text(port, 'name');
    if (name !== '') {
      const found = portNameProblems(name);
      problems.invalidEach(`${path}.name`, name, found);
      if (found.length === 0 && names.has(name)) problems.duplicate(`${path}.name`, name);
      else names.add(name);
    }
    const containerPort = number(port, 'containerPort') ?? 0;
    if (containerPort === 0) problems.required(`${path}.containerPort`);
    else problems.invalidEach(`${path}.containerPort`, containerPort, portNumberProblems(containerPort));
    const hostPort = number(port, 'hostPort') ?? 0;
    if (hostPort !== 0) problems.invalidEach(`${path}.hostPort`, hostPort, portNumberProblems(hostPort));
    problems.oneOf(`${path}.protocol`, text(port, 'protocol'), PROTOCOLS);
  }
}

function checkHostPorts(problems: Problems, field: string, containers: readonly JsonObject[]): void {
  const used = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [number_, port] of objects(container, 'ports').entries()) {
      const hostPort = number(port, 'hostPort') ?? 0;
      if (hostPort === 0) continue;
      const key = `${text(port, 'protocol')}/${text(port, 'hostIP')}/${hostPort}`;
      if (used.has(key)) problems.duplicate(`${field}[${index}].ports[${number_}].hostPort`, key);
      used.add(key);
    }
  }
}

function checkResizePolicy(problems: Problems, field: string, container: JsonObject, podRestart: string): void {
  const seen = new Set<string>();
  for (const [index, policy] of objects(container, 'resizePolicy').entries()) {
    const resource = text(policy, 'resourceName');
    const restart = text(policy, 'restartPolicy');
    if (seen.has(resource)) problems.duplicate(`${field}[${index}]`, resource);
    seen.add(resource);
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

/** As kube-apiserver prints it, all fields and none left out. */
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
    if (id !== undefined) problems.invalidEach(`${field}.${name}`, id, idProblems(id));
  }
  if (has(context, 'procMount')) {
    problems.oneOf(`${field}.procMount`, text(context, 'procMount'), ['Default', 'Unmasked']);
  }
  checkSeccomp(problems, `${field}.seccompProfile`, child(context, 'seccompProfile'));
  checkAppArmor(problems, `${field}.appArmorProfile`, child(context, 'appArmorProfile'));
  if (context['allowPrivilegeEscalation'] !== false) return;
  if (flag(context, 'privileged')) {
    problems.invalid(
      field,
      printedSecurityContext(context),
      'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    );
  }
  if (texts(child(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) {
    problems.invalid(
      field,
      printedSecurityContext(context),
      'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    );
  }
}

export function checkSeccomp(problems: Problems, field: string, profile: JsonObject | undefined): void {
  if (profile === undefined) return;
  const type = text(profile, 'type');
  if (type === '') problems.required(`${field}.type`, 'type is required when seccompProfile is set');
  else problems.oneOf(`${field}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  const path = text(profile, 'localhostProfile');
  if (type === 'Localhost' && path === '') {
    problems.required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost');
  } else if (type !== 'Localhost' && path !== '') {
    problems.invalid(`${field}.localhostProfile`, path, 'can only be set when seccomp type is Localhost');
  }
}

export function checkAppArmor(problems: Problems, field: string, profile: JsonObject | undefined): void {
  if (profile === undefined) return;
  const type = text(profile, 'type');
  const path = text(profile, 'localhostProfile');
  if (type === '') problems.required(`${field}.type`, 'type is required when appArmorProfile is set');
  else problems.oneOf(`${field}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  if (type === 'Localhost' && path === '') {
    problems.required(`${field}.localhostProfile`, 'must be set when AppArmor type is Localhost');
  } else if (type !== 'Localhost' && path !== '') {
    problems.invalid(`${field}.localhostProfile`, path, 'can only be set when AppArmor type is Localhost');
  }
}
