import assert from 'node:assert/strict';
import { chosenServers } from '../rig/chosen-servers.js';
import { call, type Endpoint, type KubeObject } from '../rig/http-client.js';
import { type NewerApi, newerApiOf } from '../rig/version-facts.js';
import { Skipped } from '../scenario.js';

/** The API of these scenarios that B and C serve, and A does not. */
export function newerApi(): NewerApi {
  const servers = chosenServers();
  const api = newerApiOf(servers);
  if (api !== undefined) return api;
  const { a, b, c } = servers;
  throw new Skipped(`no API that scenarios use is served by B (${b}) and C (${c}) and not by A (${a})`);
}

/** `scheduling.k8s.io/v1beta1` */
export function newerGroupVersion(): string {
  const { group, version } = newerApi();
  return `${group}/${version}`;
}

/** The resource as kubectl takes it: `podgroups.scheduling.k8s.io`. */
export function newerResource(): string {
  const { group, resource } = newerApi();
  return `${resource}.${group}`;
}

export function newerPath(): string {
  return `/apis/${newerGroupVersion()}`;
}

export function newerIn(namespace: string): string {
  return `${newerPath()}/namespaces/${namespace}/${newerApi().resource}`;
}

export function newerObject(name: string, more: object = {}): KubeObject {
  const { kind, spec } = newerApi();
  return { apiVersion: newerGroupVersion(), kind, metadata: { name }, spec: { ...spec, ...more } };
}

/** Resolves to the path of the object. */
export async function createNewer(endpoint: Endpoint, namespace: string, name: string): Promise<string> {
  const created = await call(endpoint, newerIn(namespace), { method: 'POST', body: newerObject(name) });
  assert.equal(created.status, 201, created.text);
  return `${newerIn(namespace)}/${name}`;
}
