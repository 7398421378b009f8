import { ProxyTls } from '../http/tls/proxy-tls.js';
import type { FileWatchOptions } from '../http/tls/tls-files.js';
import type { ServerConfig } from './config/server-config.js';

/** The certificates that a configuration names, and of the API server behind where there is one. */
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
