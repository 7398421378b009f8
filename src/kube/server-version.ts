import { isObject, type Json, member } from './json.js';

/** The reply of a server to GET /version. */
export interface ServerVersion {
  readonly gitVersion: string;
  /** The whole document, as the server wrote it. */
  readonly document: string;
}

/** A longer document is not read; those of kube-apiserver have some 400 bytes. */
export const VERSION_DOCUMENT_BYTES_MAX = 16 * 1024;

/** Reads a version document; undefined for anything else. */
export function readServerVersion(body: Buffer): ServerVersion | undefined {
  if (body.byteLength > VERSION_DOCUMENT_BYTES_MAX) return undefined;
  const document = body.toString('utf8');
  let value: Json;
  try {
    value = JSON.parse(document) as Json;
  } catch {
    return undefined;
  }
  const gitVersion = isObject(value) ? member(value, 'gitVersion') : undefined;
  if (typeof gitVersion !== 'string' || !/^[\w.+-]{1,64}$/.test(gitVersion)) return undefined;
  return { gitVersion, document };
}
