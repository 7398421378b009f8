import type { JsonObject } from '../../../kube/json.js';
import { portNameProblems, portNumberProblems } from '../built-in-formats.js';
import { child, has, number, objects, text } from '../fields.js';
import type { Problems } from '../problems.js';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];
const HEADER_NAME_RULE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

export function checkPortNumberOrName(problems: Problems, field: string, port: unknown): void {
  if (typeof port === 'number') problems.format(field, port, portNumberProblems);
  else if (typeof port === 'string') problems.format(field, port, portNameProblems);
}

export function checkLifecycle(problems: Problems, field: string, container: JsonObject, podSpec: JsonObject): void {
  const lifecycle = child(container, 'lifecycle');
  for (const name of ['postStart', 'preStop']) {
    const handler = child(lifecycle, name);
    if (handler !== undefined) checkHandler(problems, `${field}.lifecycle.${name}`, handler, podSpec);
  }
}

export function checkProbes(problems: Problems, field: string, container: JsonObject, podSpec: JsonObject): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = child(container, name);
    if (probe === undefined) continue;
    const path = `${field}.${name}`;
    checkProbe(problems, path, probe, podSpec);
    const successes = number(probe, 'successThreshold') ?? 0;
    if (name !== 'readinessProbe' && successes !== 1)
      problems.invalid(`${path}.successThreshold`, successes, 'must be 1');
    const grace = number(probe, 'terminationGracePeriodSeconds');
    if (name === 'readinessProbe' && grace !== undefined) {
      problems.invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes');
    }
  }
}

function checkProbe(problems: Problems, field: string, probe: JsonObject, podSpec: JsonObject): void {
  checkHandler(problems, field, probe, podSpec);
  problems.nonNegativeMembers(probe, field, 'initialDelaySeconds', 'timeoutSeconds', 'periodSeconds');
  problems.nonNegativeMembers(probe, field, 'successThreshold', 'failureThreshold');
  const grace = number(probe, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace <= 0) {
    problems.invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0');
  }
}

function checkHandler(problems: Problems, field: string, handler: JsonObject, podSpec: JsonObject): void {
  let count = 0;
  for (const name of HANDLERS) {
    const action = child(handler, name);
    if (action === undefined) continue;
    const path = `${field}.${name}`;
    if (count++ > 0) problems.forbidden(path, 'may not specify more than 1 handler type');
    else checkAction(problems, path, { name, action, podSpec });
  }
  if (count === 0) problems.required(field, 'must specify a handler type');
}

function checkAction(
  problems: Problems,
  field: string,
  { name, action, podSpec }: { name: string; action: JsonObject; podSpec: JsonObject },
): void {
  switch (name) {
    case 'exec':
      problems.requiredMembers(action, field, 'command');
      return;
    case 'httpGet':
      if (!has(action, 'path')) problems.required(`${field}.path`);
      checkPortNumberOrName(problems, `${field}.port`, action['port']);
      problems.oneOf(`${field}.scheme`, text(action, 'scheme'), ['HTTP', 'HTTPS']);
      for (const header of objects(action, 'httpHeaders')) {
        const value = text(header, 'name');
        if (!/^[-A-Za-z0-9]+$/.test(value)) problems.invalid(`${field}.httpHeaders`, value, HEADER_NAME_RULE);
      }
      return;
    case 'sleep': {
      const grace = number(podSpec, 'terminationGracePeriodSeconds');
      const seconds = number(action, 'seconds') ?? 0;
      if (grace !== undefined && (seconds < 0 || seconds > grace)) {
        const rule = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
        problems.invalid(field, seconds, rule);
      }
      return;
    }
    default:
      checkPortNumberOrName(problems, `${field}.port`, action['port']);
  }
}
