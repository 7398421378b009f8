import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger, type Logger } from '../../base/logger.js';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { makeCa, makeServer } from './pki.fixture.js';
import { TLS_POLL_MS, watchCaBundle, watchKeyPair } from './tls-files.js';

const ca = makeCa('ca');
const one = makeServer(ca);
const two = makeServer(ca);

let folder: string;
let lines: string[];
let logger: Logger;
let clock: ManualClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tls-files-'));
  lines = [];
  clock = new ManualClock(Date.now());
  logger = createLogger({ level: 'info', format: 'text', write: (line) => lines.push(line), nowMs: () => 0 });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const options = () => ({ logger, clock });
const certFile = () => ({ path: join(folder, 'tls.crt'), flag: '--tls-cert-file' });
const keyFile = () => ({ path: join(folder, 'tls.key'), flag: '--tls-private-key-file' });
const pairFiles = () => ({ cert: certFile(), key: keyFile() });
const bundleFile = () => ({ path: join(folder, 'ca.crt'), flag: '--client-ca-file' });

describe('watchKeyPair', () => {
  it('loads certificates and key from their files', async () => {
    put('tls.crt', one.pem + ca.pem);
    put('tls.key', one.keyPem);
    const pair = await watchKeyPair(pairFiles(), options());
    expect(pair.current.certificates).toHaveLength(2);
    expect(pair.current.key).toBe(one.keyPem);
    expect(pair.generation).toBe(1);
    pair.close();
    expect(clock.pending).toBe(0);
  });

  it('rejects with file and flag if a file cannot be read', async () => {
    put('tls.crt', one.pem);
    await expect(watchKeyPair(pairFiles(), options())).rejects.toThrow(
      /--tls-private-key-file: .*tls\.key cannot be read \(no such file or directory, ENOENT\)/,
    );
  });

  it('rejects if the key does not belong to the certificate', async () => {
    put('tls.crt', one.pem);
    put('tls.key', two.keyPem);
    await expect(watchKeyPair(pairFiles(), options())).rejects.toThrow(/does not belong to the first certificate/);
  });

  it('rejects for a file without a certificate or key, and for an encrypted key', async () => {
    put('tls.crt', one.keyPem);
    put('tls.key', one.keyPem);
    await expect(watchKeyPair(pairFiles(), options())).rejects.toThrow(/tls\.crt.*holds no certificate/);
    put('tls.crt', one.pem);
    put('tls.key', one.pem);
    await expect(watchKeyPair(pairFiles(), options())).rejects.toThrow(/tls\.key.*holds no private key/);
    put('tls.key', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n');
    await expect(watchKeyPair(pairFiles(), options())).rejects.toThrow(/encrypted/);
  });

  it('logs a warning for an expired certificate and uses it', async () => {
    const old = makeServer(ca, { notAfter: new Date(Date.now() - 1_000) });
    put('tls.crt', old.pem);
    put('tls.key', old.keyPem);
    const pair = await watchKeyPair(pairFiles(), options());
    expect(lines.join('')).toMatch(/WARN.*has expired/);
    pair.close();
  });

  it('keeps the old pair while the new one is half written, logs that once, then uses the new pair', async () => {
    put('tls.crt', one.pem);
    put('tls.key', one.keyPem);
    const pair = await watchKeyPair(pairFiles(), options());
    const seen: string[] = [];
    pair.onChange(({ key }) => seen.push(key));
    put('tls.crt', two.pem);
    await pair.refresh();
    await pair.refresh();
    expect(pair.current.cert).toBe(one.pem);
    expect(lines.filter((line) => line.includes('does not belong'))).toHaveLength(1);
    put('tls.key', two.keyPem.slice(0, 40));
    await pair.refresh();
    expect(pair.current.cert).toBe(one.pem);
    put('tls.key', two.keyPem);
    await pair.refresh();
    expect(pair.current.cert).toBe(two.pem);
    expect(pair.generation).toBe(2);
    expect(seen).toEqual([two.keyPem]);
    pair.close();
  });

  it('detects by polling that a symbolic link was swapped, as Kubernetes does', async () => {
    for (const [name, pair] of Object.entries({ v1: one, v2: two })) {
      mkdirSync(join(folder, name));
      put(`${name}/tls.crt`, pair.pem);
      put(`${name}/tls.key`, pair.keyPem);
    }
    symlinkSync('v1', join(folder, '..data'));
    symlinkSync('..data/tls.crt', join(folder, 'tls.crt'));
    symlinkSync('..data/tls.key', join(folder, 'tls.key'));
    const pair = await watchKeyPair(pairFiles(), options());
    symlinkSync('v2', join(folder, '..new'));
    renameSync(join(folder, '..new'), join(folder, '..data'));
    await clock.advance(TLS_POLL_MS);
    await until(() => pair.generation === 2, 'the new pair');
    expect(pair.current.cert).toBe(two.pem);
    pair.close();
  });

  it('keeps the pair while its files are missing', async () => {
    put('tls.crt', one.pem);
    put('tls.key', one.keyPem);
    const pair = await watchKeyPair(pairFiles(), options());
    rmSync(keyFile().path);
    await pair.refresh();
    expect(pair.current.key).toBe(one.keyPem);
    expect(lines.join('')).toMatch(/last good ones stay in use/);
    pair.close();
  });

  it('calls every listener after a change, also after a listener that throws', async () => {
    put('tls.crt', one.pem);
    put('tls.key', one.keyPem);
    const pair = await watchKeyPair(pairFiles(), options());
    let told = 0;
    pair.onChange(() => {
      throw new Error('boom');
    });
    pair.onChange(() => {
      told += 1;
    });
    put('tls.crt', two.pem);
    put('tls.key', two.keyPem);
    await pair.refresh();
    expect(told).toBe(1);
    expect(lines.join('')).toMatch(/ERROR.*boom/);
    pair.close();
  });
});

describe('watchCaBundle', () => {
  it('keeps the same array until the bundle changes', async () => {
    put('ca.crt', `# comment\n${ca.pem}`);
    const bundle = await watchCaBundle(bundleFile(), options());
    const first = bundle.current.certificates;
    await bundle.refresh();
    expect(bundle.current.certificates).toBe(first);
    put('ca.crt', ca.pem + makeCa('next').pem);
    await bundle.refresh();
    expect(bundle.current.certificates).toHaveLength(2);
    expect(bundle.generation).toBe(2);
    bundle.close();
  });

  it('keeps the old bundle if the new file is truncated', async () => {
    const whole = ca.pem + makeCa('next').pem;
    put('ca.crt', whole);
    const bundle = await watchCaBundle(bundleFile(), options());
    put('ca.crt', whole.slice(0, -60));
    await bundle.refresh();
    expect(bundle.current.certificates).toHaveLength(2);
    expect(lines.join('')).toMatch(/middle of a certificate/);
    bundle.close();
  });

  it('refuses an empty bundle and a malformed certificate', async () => {
    put('ca.crt', '');
    await expect(watchCaBundle(bundleFile(), options())).rejects.toThrow(/--client-ca-file.*no certificate/);
    put('ca.crt', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    await expect(watchCaBundle(bundleFile(), options())).rejects.toThrow(/certificate 1 is malformed/);
  });
});
