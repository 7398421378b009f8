import { join, resolve } from 'node:path';
import { hostPortOf } from '../base/address.js';
import { fileProblem } from '../base/file-problem.js';
import { ConfigError } from '../compose/config/config-error.js';
import {
  type KubeconfigAccess,
  kubeconfigPath,
  type PemSource,
  parseKubeconfig,
  readPem,
} from '../compose/config/kubeconfig.js';
import { Asker, type AskerOptions, type Question } from '../tools/inspect/ask.js';
import { PLANE_DATA_DIR, PLANE_KUBECONFIG } from '../tools/plane/control-plane-options.js';
import { steeredFolder } from '../tools/plane/control-socket.js';
import type { Surroundings } from './surroundings.js';

export const KUBECONFIG_HELP =
  'kubeconfig to use (default: $KUBECONFIG, then that of a running `straddle up` in ./straddle-data, then ~/.kube/config)';

/** The flags of every command that sends requests on behalf of the operator. */
export interface AccessOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

export async function readAccess(options: AccessOptions, surroundings: Surroundings): Promise<KubeconfigAccess> {
  const path = await chosenKubeconfig(options, surroundings);
  let text: string;
  try {
    text = surroundings.readFile(path);
  } catch (error) {
    throw new ConfigError([
      `The kubeconfig ${path} cannot be read (${fileProblem(error)}); name another with --kubeconfig.`,
    ]);
  }
  const access = parseKubeconfig(text, { path, context: options.context });
  if (access.insecureSkipTlsVerify && !options.insecureSkipTlsVerify) {
    throw new ConfigError([
      `${path} says insecure-skip-tls-verify: give it a certificate-authority, or repeat --insecure-skip-tls-verify here.`,
    ]);
  }
  return access;
}

/**
 * Returns the kubeconfig that is named by the flag or by $KUBECONFIG, else that of a control plane that `straddle up` runs
 * in this folder, which is said, else ~/.kube/config.
 */
export async function chosenKubeconfig(
  { kubeconfig }: AccessOptions,
  { environment, homeDirectory, stderr }: Pick<Surroundings, 'environment' | 'homeDirectory' | 'stderr'>,
  folder = process.cwd(),
): Promise<string> {
  const isNamed = kubeconfig !== undefined || Boolean(environment['KUBECONFIG']);
  const dataDir = isNamed ? undefined : await steeredFolder(resolve(folder, PLANE_DATA_DIR));
  if (dataDir !== undefined) {
    stderr(`straddle: the control plane of ${PLANE_DATA_DIR} (another one: --kubeconfig)\n`);
    return join(dataDir, PLANE_KUBECONFIG);
  }
  return kubeconfigPath(kubeconfig, environment, homeDirectory);
}

/** Returns how to reach the server of a kubeconfig, with all files read. */
export function askerOptions(
  access: KubeconfigAccess,
  surroundings: Pick<Surroundings, 'readFile' | 'nowMs'>,
): AskerOptions {
  const pem = (source: PemSource | undefined, what: string) =>
    readPem(source, (path) => readNamed(path, what, surroundings));
  return {
    url: access.server,
    serverName: access.serverName ?? hostPortOf(new URL(access.server)).host,
    credentials: {
      ca: pem(access.ca, 'The certificate authority'),
      clientCert: pem(access.clientCert, 'The client certificate'),
      clientKey: pem(access.clientKey, 'The client key'),
      token: access.token ?? (access.tokenFile && readNamed(access.tokenFile, 'The token', surroundings).trim()),
      insecureSkipTlsVerify: access.insecureSkipTlsVerify,
    },
    nowMs: surroundings.nowMs,
  };
}

/** Throws ConfigError with the name of the file's purpose. */
export function readNamed(path: string, what: string, { readFile }: Pick<Surroundings, 'readFile'>): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new ConfigError([`${what} ${path} cannot be read (${fileProblem(error)}).`]);
  }
}

/** A reply of the API server, read as a whole: these are small objects. */
export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The clock of the server, if the reply has a Date header. */
  readonly serverTimeMs: number | undefined;
}

const TIMEOUT_MS = 15_000;

/** Sends one request with the rights of a kubeconfig. Rejects if the reply is not JSON. */
export async function kubeRequest(
  access: KubeconfigAccess,
  surroundings: Pick<Surroundings, 'readFile' | 'nowMs'>,
  question: Question,
): Promise<KubeAnswer> {
  const asker = new Asker({ ...askerOptions(access, surroundings), timeoutMs: TIMEOUT_MS });
  try {
    const { status, text, dateMs } = await asker.request(question).catch((error: Error) => {
      throw new Error(`${access.server} cannot be reached: ${error.message}.`);
    });
    return { status, body: parsed(access.server, status, text), serverTimeMs: dateMs };
  } finally {
    asker.close();
  }
}

/** What an API server says of a path that it does not know, as plain text. */
const UNKNOWN_PATH = '404 page not found';

function parsed(server: string, status: number, text: string): unknown {
  if (status === 404 && text.trim() === UNKNOWN_PATH) return { message: UNKNOWN_PATH };
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${server} answered ${status} without JSON: is it an API server?`);
  }
}
