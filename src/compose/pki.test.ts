import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApiServerConfig } from './config/api-server-config.js';
import { loadApiServerConfig } from './config/load-api-server-config.js';
import { makePki } from './pki.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-pki-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function configOf(dataDir: string, name: string): ApiServerConfig {
  return loadApiServerConfig(
    new Map([
      ['data-dir', [dataDir]],
      ['server-name', [name]],
      ['bind-address', ['127.0.0.1']],
    ]),
    { hostname: 'test', addresses: ['127.0.0.1'], readFile: (path) => readFileSync(path, 'utf8') },
  );
}

function belongTogether({ certFile, keyFile }: { certFile: string; keyFile: string }): boolean {
  return new X509Certificate(readFileSync(certFile)).checkPrivateKey(createPrivateKey(readFileSync(keyFile)));
}

describe('makePki', () => {
  it('returns the same front-proxy certificate and key to servers that start together on one folder', async () => {
    for (let round = 0; round < 10; round++) {
      const dataDir = join(dir, `together-${round}`);
      const starts = Array.from({ length: 6 }, async (_, index) => {
        const config = configOf(dataDir, `server-${index}`);
        await makePki(config);
        return belongTogether(config.frontProxyCertificate!);
      });
      expect(await Promise.all(starts)).toEqual(starts.map(() => true));
    }
  });

  it('keeps valid certificates and issues missing ones again', async () => {
    const config = configOf(join(dir, 'kept'), 'server');
    await makePki(config);
    const before = readFileSync(config.tlsCertFile, 'utf8');
    await makePki(config);
    expect(readFileSync(config.tlsCertFile, 'utf8')).toBe(before);
    rmSync(config.tlsCertFile);
    await makePki(config);
    expect(belongTogether({ certFile: config.tlsCertFile, keyFile: config.tlsPrivateKeyFile })).toBe(true);
  });

  it('issues a serving certificate again if the server has another name', async () => {
    const dataDir = join(dir, 'renamed');
    const config = configOf(dataDir, 'server');
    await makePki(config);
    const renamed = { ...config, peerAdvertiseIp: '127.0.0.9' };
    await makePki(renamed);
    expect(new X509Certificate(readFileSync(config.tlsCertFile)).checkIP('127.0.0.9')).toBe('127.0.0.9');
    expect(belongTogether({ certFile: config.tlsCertFile, keyFile: config.tlsPrivateKeyFile })).toBe(true);
  });
});
