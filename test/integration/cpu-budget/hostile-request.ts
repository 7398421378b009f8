import { encodeProtobuf } from '../../../src/apiserver/protobuf/encode-protobuf.js';
import type { JsonObject } from '../../../src/kube/json.js';
import type { Ask } from '../https-client.js';

/** One request of the corpus. Made when it is its turn: some bodies are megabytes. */
export interface HostileRequest {
  readonly name: string;
  readonly path: string;
  make(): Ask;
}

/** Largest request body of a server, less some bytes for the rest of the document. */
export const BODY_BYTES = 3 * 1024 * 1024 - 4_096;

export const DEFAULT_NAMESPACE = '/api/v1/namespaces/default';

/** `count` items made of their index. */
export function many<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

/** Members of an object, made of their index. */
export function members<T>(
  count: number,
  name: (index: number) => string,
  value: (index: number) => T,
): Record<string, T> {
  return Object.fromEntries(many(count, (index) => [name(index), value(index)]));
}

/** As many items as fit into one body, joined by commas. */
export function filled(item: (index: number) => string, bytesMax = BODY_BYTES): string {
  const parts: string[] = [];
  let bytes = 0;
  for (let index = 0; ; index++) {
    const part = item(index);
    bytes += part.length + 1;
    if (bytes > bytesMax) return parts.join(',');
    parts.push(part);
  }
}

export function created(name: string, path: string, body: () => unknown): HostileRequest {
  return { name, path: dryRun(path), make: () => ({ method: 'POST', body: body() }) };
}

export function replaced(name: string, path: string, body: () => unknown): HostileRequest {
  return { name, path: dryRun(path), make: () => ({ method: 'PUT', body: body() }) };
}

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export function patched(
  type: keyof typeof PATCH_TYPES,
  name: string,
  path: string,
  body: () => unknown,
): HostileRequest {
  const query = type === 'apply' ? `${path}?fieldManager=hostile&force=true` : path;
  const headers = { 'Content-Type': PATCH_TYPES[type] };
  return { name, path: dryRun(query), make: () => ({ method: 'PATCH', headers, body: body() }) };
}

export function sentAs(contentType: string, request: HostileRequest): HostileRequest {
  const make = (): Ask => {
    const made = request.make();
    return { ...made, headers: { ...made.headers, 'Content-Type': contentType } };
  };
  return { ...request, make };
}

export function protobuf(name: string, path: string, object: () => JsonObject): HostileRequest {
  const headers = { 'Content-Type': 'application/vnd.kubernetes.protobuf' };
  const make = (): Ask => ({ method: 'POST', headers, body: encodeProtobuf(object())! });
  return { name, path: dryRun(path), make };
}

export function read(name: string, path: string, headers: Record<string, string | string[]> = {}): HostileRequest {
  return { name, path, make: () => ({ headers }) };
}

function dryRun(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}dryRun=All`;
}
