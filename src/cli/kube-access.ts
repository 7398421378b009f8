import { ConfigError } from '../compose/config/config-error.js';
import { type KubeconfigAccess, kubeconfigPath, parseKubeconfig } from '../compose/config/kubeconfig.js';
import type { Surroundings } from './surroundings.js';

/** The flags of every command that speaks to a server on the operator's behalf. */
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
