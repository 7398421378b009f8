import { ProxyTls } from '../http/tls/proxy-tls.js';
import type { FileWatchOptions } from '../http/tls/tls-files.js';
import type { ServerConfig } from './config/server-config.js';

/** Loads the certificates of a configuration; `upstream` is the API server behind a sidecar. */
export function loadServerTls(
  config: ServerConfig,
  io: FileWatchOptions,
  upstream?: { readonly caFile: string; readonly serverName: string },
): Promise<ProxyTls> {
  return ProxyTls.load(
    {
      serving: { certFile: config.tlsCertFile, keyFile: config.tlsPrivateKeyFile },
      frontProxy: config.frontProxyCertificate,
      clientCaFile: config.clientCaFile,
      requestHeaderCaFile: config.requestHeader.clientCaFile,
      peerCaFile: config.peerCaFile,
      peerServerName: config.peerServerName,
      upstreamCaFile: upstream?.caFile,
      upstreamServerName: upstream?.serverName ?? '',
    },
    io,
  );
}
