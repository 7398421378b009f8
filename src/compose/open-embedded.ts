import { accessSync, constants } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readTokenFile } from '../apiserver/authentication/token-file.js';
import { capturedDescriptions, type Descriptions } from '../apiserver/descriptions/descriptions.js';
import { checkDescribedVersion, loadDescriptionsFile } from '../apiserver/descriptions/parse-descriptions.js';
import type { Backend } from '../apiserver/storage/backend.js';
import type { BuiltInSurface } from '../apiserver/surfaces/built-in-surface.js';
import { loadSurface, loadSurfaceFile } from '../apiserver/surfaces/load-surface.js';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { formatHostPort } from '../base/address.js';
import { fileProblem } from '../base/file-problem.js';
import type { Logger } from '../base/logger.js';
import { makeFolder } from '../base/make-folder.js';
import { adminKubeconfig, EMBEDDED_NAME, hasMadeAdmin, mayBeReplaced } from './admin-kubeconfig.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { ConfigError } from './config/config-error.js';
import type { FlagName } from './config/flags.js';
import { makePki, replaceFile } from './pki.js';
import type { RunningServer } from './start-server.js';

/** The files, the surface and the storage of the embedded API server. */
export interface OpenedEmbedded {
  readonly backend: Backend;
  readonly surface: BuiltInSurface;
  /** Those of `--descriptions-file`. */
  readonly descriptions: Descriptions | undefined;
  readonly signingKeyPem: string;
  readonly verificationKeysPem: readonly string[];
  readonly staticTokens: ReturnType<typeof readTokenFile> | undefined;
  /** Writes the admin's kubeconfig anew once the server is ready, and returns its path; undefined: none is written. */
  announce(running: RunningServer): Promise<string | undefined>;
}

/** Reads the surface and the descriptions, makes missing certificates and opens the store. */
export async function openEmbedded(config: ApiServerConfig, logger: Logger): Promise<OpenedEmbedded> {
  // Before anything is written: a file that cannot be served is a mistake in the flags.
  const surface = await surfaceOf(config);
  const descriptions = await descriptionsOf(config, surface);
  prepareDataDir(config);
  const pki = await makePki(config);
  if (pki === undefined) await removeStaleKubeconfig(config, logger);
  else await checkKubeconfig(config);
  const { signingKeyFile, keyFiles } = config.serviceAccounts;
  const signingKeyPem = await readNamed(signingKeyFile, 'service-account-signing-key-file');
  const verificationKeysPem = await Promise.all(keyFiles.map((path) => readNamed(path, 'service-account-key-file')));
  const { tokenAuthFile } = config;
  const staticTokens =
    tokenAuthFile === undefined ? undefined : readTokenFile(await readNamed(tokenAuthFile, 'token-auth-file'));
  const backend = await openBackend(config, logger);
  return {
    backend,
    surface,
    descriptions,
    signingKeyPem,
    verificationKeysPem: verificationKeysPem.length === 0 ? [] : [...verificationKeysPem, signingKeyPem],
    staticTokens,
    async announce({ port }) {
      const { adminKubeconfig: path } = config;
      if (!pki || path === undefined) return undefined;
      const host = ['0.0.0.0', '::'].includes(config.bindAddress) ? '127.0.0.1' : config.bindAddress;
      const address = formatHostPort({ host, port });
      await replaceFile(path, adminKubeconfig([{ name: EMBEDDED_NAME, address }], pki)).catch((error: unknown) => {
        throw new ConfigError([`--admin-kubeconfig: ${path} cannot be written (${fileProblem(error)}).`]);
      });
      return path;
    },
  };
}

/** Throws ConfigError where nothing can be kept, before a part of it was written. */
function prepareDataDir({ dataDir, adminKubeconfig: kubeconfig }: ApiServerConfig): void {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new ConfigError([
      `--data-dir: ${dataDir} cannot be used (${fileProblem(error)}); choose a folder that this user may write to.`,
    ]);
  }
  if (kubeconfig === undefined) return;
  try {
    accessSync(dirname(kubeconfig), constants.W_OK);
  } catch (error) {
    throw new ConfigError([
      `--admin-kubeconfig: ${dirname(kubeconfig)} cannot be written to (${fileProblem(error)}); choose another file, or none with --admin-kubeconfig=.`,
    ]);
  }
}

/** Throws ConfigError where the file is another one, such as the operator's own kubeconfig: it would be lost. */
async function checkKubeconfig({ adminKubeconfig: path }: ApiServerConfig): Promise<void> {
  if (path === undefined || mayBeReplaced(await readFile(path, 'utf8').catch(() => ''))) return;
  throw new ConfigError([
    `--admin-kubeconfig: ${path} has something else than the admin of this server, and would be replaced; choose another file, or move it away.`,
  ]);
}

/**
 * Removes the kubeconfig that an earlier start wrote with an authority of its own: the clients of `--client-ca-file` are
 * others, so its user would get 401. A file that was not made by Straddle stays.
 */
async function removeStaleKubeconfig(
  { adminKubeconfig: path, clientCaFile }: ApiServerConfig,
  logger: Logger,
): Promise<void> {
  if (path === undefined) return;
  const text = await readFile(path, 'utf8').catch(() => '');
  const isStale = hasMadeAdmin(text);
  if (isStale) await rm(path, { force: true });
  logger.warn('no kubeconfig is written: only who has the key of --client-ca-file can issue its certificate', {
    clientCaFile,
    ...(isStale ? { removed: path } : {}),
  });
}

async function readNamed(path: string, flag: FlagName): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`--${flag}: ${path} cannot be read (${fileProblem(error)}).`]);
  }
}

async function surfaceOf({ surfaceFile, kubernetesVersion }: ApiServerConfig): Promise<BuiltInSurface> {
  if (surfaceFile !== undefined) {
    return loadSurfaceFile(surfaceFile).catch((error: Error) => {
      throw new ConfigError([`--surface-file: ${error.message}`]);
    });
  }
  return loadSurface(kubernetesVersion ?? shippedVersions().at(-1)!);
}

async function descriptionsOf(
  { descriptionsFile }: ApiServerConfig,
  { version }: BuiltInSurface,
): Promise<Descriptions | undefined> {
  if (descriptionsFile === undefined) return undefined;
  try {
    const captured = await loadDescriptionsFile(descriptionsFile);
    checkDescribedVersion(captured, version, descriptionsFile);
    return capturedDescriptions(captured);
  } catch (error) {
    throw new ConfigError([`--descriptions-file: ${(error as Error).message}`]);
  }
}

async function openBackend(config: ApiServerConfig, logger: Logger): Promise<Backend> {
  const compaction = { historyMs: config.compactionMs, historyRevisionsMax: 500_000 };
  if (!config.etcd) {
    // Only the engine in use is imported, so that a start does not wait for the other.
    const { openEmbeddedBackend } = await import('../apiserver/storage/engines/embedded/embedded-backend.js');
    const onError = (error: unknown): void => logger.error('the embedded store has a problem', { error });
    return openEmbeddedBackend({ dataDir: join(config.dataDir, 'store'), compaction, onError });
  }
  const { openEtcdBackend } = await import('../apiserver/storage/engines/etcd/etcd-backend.js');
  const { endpoints, caFile, certFile, keyFile } = config.etcd;
  const read = async (path: string | undefined, flag: FlagName): Promise<string | undefined> =>
    path === undefined ? undefined : readNamed(path, flag);
  const [ca, cert, key] = await Promise.all([
    read(caFile, 'etcd-cafile'),
    read(certFile, 'etcd-certfile'),
    read(keyFile, 'etcd-keyfile'),
  ]);
  return openEtcdBackend({ endpoints, tls: { ca, cert, key }, compaction });
}
