import { dirname, isAbsolute, join, resolve } from 'node:path';
import { load } from 'js-yaml';
import { isObject, type JsonObject } from '../../kube/json.js';
import { ConfigError } from './config-error.js';
import { nearest } from './nearest.js';

/** Certificates and keys, either inside the kubeconfig or in a file that may be renewed. */
export type PemSource = { readonly pem: string } | { readonly file: string };

/** Returns the PEM text of a source; undefined without one. Throws the error of `readFile`. */
export function readPem(source: PemSource | undefined, readFile: (path: string) => string): string | undefined {
  return source && ('pem' in source ? source.pem : readFile(source.file));
}

/** How to reach a server, according to one context of a kubeconfig. */
export interface KubeconfigAccess {
  readonly context: string;
  /** Without trailing slash. */
  readonly server: string;
  /** Undefined: the CAs that the machine trusts. */
  readonly ca: PemSource | undefined;
  /** Name that the certificate must have; default: the host of the URL. */
  readonly serverName: string | undefined;
  readonly clientCert: PemSource | undefined;
  readonly clientKey: PemSource | undefined;
  readonly token: string | undefined;
  /** A file that is read before each use, because such tokens are rotated. */
  readonly tokenFile: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

/** The contents of the files and names with which connections of `access` are made. */
export function tlsOfAccess(access: KubeconfigAccess, readFile: (path: string) => string) {
  return {
    ca: readPem(access.ca, readFile),
    servername: access.serverName,
    cert: readPem(access.clientCert, readFile),
    key: readPem(access.clientKey, readFile),
    insecureSkipVerify: access.insecureSkipTlsVerify,
  };
}

export interface KubeconfigSelection {
  /** The kubeconfig: named in messages, and the base of relative paths in it. */
  readonly path: string;
  /** Default: the current context. */
  readonly context?: string | undefined;
}

/** Returns `--kubeconfig`, else the first file of $KUBECONFIG, else ~/.kube/config. */
export function kubeconfigPath(
  given: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  homeDirectory: string,
): string {
  const listed = environment['KUBECONFIG']?.split(':').find((path) => path !== '');
  return given || listed || join(homeDirectory, '.kube', 'config');
}

/** Throws ConfigError for missing, contradictory or unsupported settings. */
export function parseKubeconfig(text: string, selection: KubeconfigSelection): KubeconfigAccess {
  const { path } = selection;
  const root = parseYaml(path, text);
  const contextName = selection.context ?? textOf(root['current-context']);
  if (!contextName) throw problem(`${path} has no current-context; choose one with --context.`);
  const context = named(root, 'contexts', 'context', contextName, path);
  const clusterName = textOf(context['cluster']) ?? '';
  const cluster = named(root, 'clusters', 'cluster', clusterName, path);
  const userName = textOf(context['user']);
  const user = userName ? named(root, 'users', 'user', userName, path) : {};
  refuseUnsupported(user, `User "${userName}" in ${path}`);
  const clientCert = pemSource(user, 'client-certificate', path);
  const clientKey = pemSource(user, 'client-key', path);
  if (Boolean(clientCert) !== Boolean(clientKey)) {
    throw problem(`User "${userName}" in ${path} needs both client-certificate and client-key, or neither.`);
  }
  const tokenFile = textOf(user['tokenFile']);
  return Object.freeze({
    context: contextName,
    server: serverUrl(cluster, clusterName, path),
    ca: pemSource(cluster, 'certificate-authority', path),
    serverName: textOf(cluster['tls-server-name']),
    clientCert,
    clientKey,
    token: textOf(user['token']),
    tokenFile: tokenFile === undefined ? undefined : beside(path, tokenFile),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
  });
}

function parseYaml(path: string, text: string): JsonObject {
  let root: unknown;
  try {
    root = load(text);
  } catch (error) {
    throw problem(`${path} is not valid YAML: ${(error as Error).message.split('\n', 1)[0]}.`);
  }
  if (!isObject(root) || (root['kind'] !== undefined && root['kind'] !== 'Config')) {
    throw problem(`${path} is not a kubeconfig: it must be a YAML mapping with \`kind: Config\`.`);
  }
  return root;
}

function named(root: JsonObject, list: string, key: string, name: string, path: string): JsonObject {
  const entries = Array.isArray(root[list]) ? root[list].filter(isObject) : [];
  const entry = entries.find((candidate) => candidate['name'] === name);
  if (!entry) {
    const names = entries.flatMap((candidate) => textOf(candidate['name']) ?? []);
    const suggestion = nearest(name, names);
    throw problem(`${path} has no ${key} "${name}".${suggestion ? ` Did you mean "${suggestion}"?` : ''}`);
  }
  return isObject(entry[key]) ? entry[key] : {};
}

/** Keys of a user that name other ways to log in. */
const UNSUPPORTED = {
  exec: 'an exec plugin, which Straddle does not support',
  'auth-provider': 'an auth-provider, which Straddle does not support',
  username: 'a password, which Kubernetes no longer supports',
  password: 'a password, which Kubernetes no longer supports',
};

function refuseUnsupported(user: JsonObject, who: string): void {
  for (const [key, how] of Object.entries(UNSUPPORTED)) {
    if (user[key] === undefined) continue;
    throw problem(`${who} logs in with ${how}; use a client certificate or a token.`);
  }
}

function serverUrl(cluster: JsonObject, clusterName: string, path: string): string {
  const server = textOf(cluster['server']);
  if (!server || !URL.canParse(server)) throw problem(`Cluster "${clusterName}" in ${path} has no valid server URL.`);
  if (new URL(server).protocol !== 'https:') {
    throw problem(
      `Cluster "${clusterName}" in ${path} has the server ${server}; Straddle speaks to servers over https only.`,
    );
  }
  if (cluster['proxy-url'] !== undefined) {
    throw problem(`Cluster "${clusterName}" in ${path} has a proxy-url, which Straddle does not support.`);
  }
  return server.replace(/\/+$/, '');
}

/** The `-data` form wins over the file, as in every Kubernetes client. */
function pemSource(from: JsonObject, key: string, path: string): PemSource | undefined {
  const data = textOf(from[`${key}-data`]);
  if (data !== undefined) {
    const pem = Buffer.from(data, 'base64').toString('latin1');
    if (!pem.includes('-----BEGIN ')) throw problem(`${key}-data in ${path} is not base64 of PEM text.`);
    return { pem };
  }
  const file = textOf(from[key]);
  return file === undefined ? undefined : { file: beside(path, file) };
}

/** Relative paths in a kubeconfig are relative to the file itself. */
function beside(path: string, file: string): string {
  return isAbsolute(file) ? file : resolve(dirname(path), file);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function problem(sentence: string): ConfigError {
  return new ConfigError([sentence]);
}
