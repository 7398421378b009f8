import { ApiServer } from '../apiserver/api-server.js';
import { OutboundCalls } from '../apiserver/outbound/outbound-calls.js';
import { parseRuntimeConfig } from '../apiserver/surfaces/runtime-config.js';
import { formatHostPort } from '../base/address.js';
import { servesInSomeVersion } from '../kube/surface.js';
import { EmbeddedHost } from '../proxy/hosts/embedded-host.js';
import type { Host } from '../proxy/hosts/host.js';
import { createOutgoingHeaders } from '../proxy/identity/outgoing-headers.js';
import type { PeerTable } from '../proxy/peers/peer-table.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import type { OpenedEmbedded } from './open-embedded.js';
import type { ProgramSurroundings } from './program-surroundings.js';

/** Makes the host for the embedded API server. */
export function makeEmbeddedHost(
  config: ApiServerConfig,
  opened: OpenedEmbedded,
  { clock, logger, tls, peers }: ProgramSurroundings & { readonly peers: () => PeerTable },
): Host {
  const outbound = new OutboundCalls({ clientCertificate: () => tls.frontProxy?.current, clock });
  const { requestHeader } = config;
  const server = new ApiServer({
    serverName: config.serverName,
    keepsLease: config.peeringActive,
    backend: opened.backend,
    surface: opened.surface,
    descriptions: opened.descriptions,
    runtimeConfig: parseRuntimeConfig(config.runtimeConfig),
    eventTtlSeconds: config.eventTtlSeconds,
    serviceCidr: config.serviceCidr,
    serverAddress: formatHostPort({ host: config.peerAdvertiseIp, port: config.peerAdvertisePort }),
    tokens: {
      issuer: config.serviceAccounts.issuer,
      signingKeyPem: opened.signingKeyPem,
      ...(opened.verificationKeysPem.length === 0 ? {} : { verificationKeysPem: opened.verificationKeysPem }),
      ...(opened.staticTokens === undefined ? {} : { staticTokens: opened.staticTokens }),
    },
    bootstrap: {
      serviceCidr: config.serviceCidr,
      clientCa: tls.clientCas?.current.pem,
      requestHeader: {
        ca: tls.requestHeaderCas?.current.pem,
        allowedNames: requestHeader.allowedNames,
        headers: requestHeader,
      },
    },
    extensions: { outbound, aggregationOutbound: outbound, makeHeaders: createOutgoingHeaders(requestHeader) },
    servingPeer: (what) => peers().peers.find(({ surface }) => surface && servesInSomeVersion(surface, what))?.identity,
    clock,
    logger,
  });
  return new EmbeddedHost({ server, outbound, store: opened.backend });
}
