import { hostPortOf } from '../base/address.js';
import { ConfigError } from '../compose/config/config-error.js';
import {
  type KubeconfigAccess,
  kubeconfigPath,
  type PemSource,
  parseKubeconfig,
  readPem,
} from '../compose/config/kubeconfig.js';
import { Asker, type AskerOptions, type Question } from '../tools/inspect/ask.js';
import type { Surroundings } from './surroundings.js';

/** The flags of every command that sends requests on behalf of the operator. */
export interface AccessOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

export function readAccess(options: AccessOptions, surroundings: Surroundings): KubeconfigAccess {
  const path = kubeconfigPath(options.kubeconfig, surroundings.environment, surroundings.homeDirectory);
  let text: string;
  try {
    text = surroundings.readFile(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? error;
    throw new ConfigError([`The kubeconfig ${path} cannot be read (${why}); name another with --kubeconfig.`]);
  }
  const access = parseKubeconfig(text, { path, context: options.context });
  if (access.insecureSkipTlsVerify && !options.insecureSkipTlsVerify) {
    throw new ConfigError([
      `${path} says insecure-skip-tls-verify: give it a certificate-authority, or repeat --insecure-skip-tls-verify here.`,
    ]);
  }
  return access;
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
    throw new ConfigError([`${what} ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? error}).`]);
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

function parsed(server: string, status: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${server} answered ${status} without JSON: is it an API server?`);
  }
}
