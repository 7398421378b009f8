import { readFileSync } from 'node:fs';
import { parseKubeconfig, readPem } from '../../../src/compose/config/kubeconfig.js';
import type { Endpoint } from '../../real/rig/http-client.js';

/** Returns the server and the user of a kubeconfig that holds its certificates; `url` replaces the server. */
export function endpointOf(path: string, url?: string): Endpoint {
  const access = parseKubeconfig(readFileSync(path, 'utf8'), { path });
  const read = (file: string): string => readFileSync(file, 'utf8');
  const ca = readPem(access.ca, read);
  const certPem = readPem(access.clientCert, read);
  const keyPem = readPem(access.clientKey, read);
  if (ca === undefined || certPem === undefined || keyPem === undefined) {
    throw new Error(`${path} lacks an authority or a client certificate`);
  }
  return { url: url ?? access.server, ca, clientCert: { certPem, keyPem } };
}
