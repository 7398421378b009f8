import { groupVersion } from '../../kube/gvr.js';
import type { Json, JsonObject } from '../../kube/json.js';
import { StatusError } from '../../kube/status-error.js';
import type { ApiCall } from '../verbs/api-call.js';
import { isTrue } from '../verbs/options.js';

type Read = (values: readonly string[]) => Json | undefined;

const isSet: Read = ([value]) => (isTrue(value ?? null) ? true : undefined);
const text: Read = ([value]) => (value === '' ? undefined : value);
const texts: Read = (values) => [...values];
const numbers: Read = (values) => values.map(int32);

const OF_A_TERMINAL: Readonly<Record<string, Read>> = {
  stdin: isSet,
  stdout: isSet,
  stderr: isSet,
  tty: isSet,
  container: text,
};

/** Query parameters by the kind of options. */
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  PodExecOptions: { ...OF_A_TERMINAL, command: texts },
  PodAttachOptions: OF_A_TERMINAL,
  PodPortForwardOptions: { ports: numbers },
  PodProxyOptions: {},
  ServiceProxyOptions: {},
  NodeProxyOptions: {},
};

/** Returns the options of a connection, which admission sees as its object. Throws BadRequest for an invalid port. */
export function connectOptions({ type, info, query }: Pick<ApiCall, 'type' | 'info' | 'query'>): JsonObject {
  const { kind, kindGroup, kindVersion } = type.subresources.get(info.subresource)!;
  const options: JsonObject = { kind, apiVersion: groupVersion(kindGroup, kindVersion) };
  for (const [name, read] of Object.entries(PARAMETERS[kind] ?? {})) {
    const value = query.has(name) ? read(query.getAll(name)) : undefined;
    if (value !== undefined) options[name] = value;
  }
  if (info.subresource === 'proxy') {
    const path = proxiedPath(info.path, info.name);
    if (path !== '') options['path'] = path;
  }
  return options;
}

function int32(value: string): number {
  const number = Number(value);
  if (/^[+-]?\d+$/.test(value) && Math.abs(number) < 2 ** 31) return number;
  throw new StatusError(
    'BadRequest',
    `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(value)}: invalid syntax`,
  );
}

/** Returns the path after `/proxy`. */
function proxiedPath(path: string, name: string): string {
  const start = path.indexOf(`/${name}/proxy`);
  return start < 0 ? '' : path.slice(start + `/${name}/proxy`.length);
}
