import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTokenFile } from '../apiserver/authentication/token-file.js';
import type { Backend } from '../apiserver/storage/backend.js';
import type { BuiltInSurface } from '../apiserver/surfaces/built-in-surface.js';
import { loadSurface, loadSurfaceFile } from '../apiserver/surfaces/load-surface.js';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';
import { formatHostPort } from '../base/address.js';
import type { Logger } from '../base/logger.js';
import { adminKubeconfig } from './admin-kubeconfig.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { ConfigError } from './config/config-error.js';
import { makePki, replaceFile } from './pki.js';
import type { RunningServer } from './start-server.js';

/** The files, the surface and the storage of the embedded API server. */
export interface OpenedEmbedded {
  readonly backend: Backend;
  readonly surface: BuiltInSurface;
  readonly signingKeyPem: string;
  readonly verificationKeysPem: readonly string[];
  readonly staticTokens: ReturnType<typeof readTokenFile> | undefined;
  /** Writes the admin's kubeconfig; called once the server is ready. */
  announce(running: RunningServer): Promise<void>;
}

/** Reads the surface, makes missing certificates and opens the store. */
export async function openEmbedded(config: ApiServerConfig, logger: Logger): Promise<OpenedEmbedded> {
  // Before anything is written: a surface that cannot be read is a mistake in the flags.
  const surface = await surfaceOf(config);
  const pki = await makePki(config);
  const read = (path: string): Promise<string> => readFile(path, 'utf8');
  const signingKeyPem = await read(config.serviceAccounts.signingKeyFile);
  const verificationKeysPem = await Promise.all(config.serviceAccounts.keyFiles.map(read));
  const staticTokens = config.tokenAuthFile === undefined ? undefined : readTokenFile(await read(config.tokenAuthFile));
  const backend = await openBackend(config, logger);
  return {
    backend,
    surface,
    signingKeyPem,
    verificationKeysPem: verificationKeysPem.length === 0 ? [] : [...verificationKeysPem, signingKeyPem],
    staticTokens,
    async announce({ port }) {
      if (!pki || config.adminKubeconfig === undefined) return;
      const host = ['0.0.0.0', '::'].includes(config.bindAddress) ? '127.0.0.1' : config.bindAddress;
      const address = formatHostPort({ host, port });
      await replaceFile(config.adminKubeconfig, adminKubeconfig([{ name: 'straddle', address }], pki));
    },
  };
}

async function surfaceOf({ surfaceFile, kubernetesVersion }: ApiServerConfig): Promise<BuiltInSurface> {
  if (surfaceFile !== undefined) {
    return loadSurfaceFile(surfaceFile).catch((error: Error) => {
      throw new ConfigError([`--surface-file: ${error.message}`]);
    });
  }
  return loadSurface(kubernetesVersion ?? shippedVersions().at(-1)!);
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
  const read = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : readFile(path, 'utf8');
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return openEtcdBackend({ endpoints, tls: { ca, cert, key }, compaction });
}
