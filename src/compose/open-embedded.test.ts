import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createLogger } from '../base/logger.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { ConfigError } from './config/config-error.js';
import type { FlagName } from './config/flags.js';
import { loadApiServerConfig } from './config/load-api-server-config.js';
import { openEmbedded } from './open-embedded.js';
import type { RunningServer } from './start-server.js';

const dir = mkdtempSync(join(tmpdir(), 'straddle-open-'));
const logger = createLogger({ level: 'error', format: 'text', write: () => {}, nowMs: () => 0 });
const other = mkdtempSync(join(tmpdir(), 'straddle-open-data-'));
afterAll(() => {
  for (const each of [dir, other]) rmSync(each, { recursive: true, force: true });
});

function configOf(flags: Partial<Record<FlagName, string>>): ApiServerConfig {
  return loadApiServerConfig(new Map(Object.entries(flags).map(([flag, value]) => [flag as FlagName, [value]])), {
    hostname: 'test',
    addresses: ['127.0.0.1'],
    readFile: (path) => readFileSync(path, 'utf8'),
  });
}

async function problemsOf(flags: Partial<Record<FlagName, string>>): Promise<readonly string[]> {
  const refusal = await openEmbedded(configOf(flags), logger).catch((error: Error) => error);
  expect(refusal).toBeInstanceOf(ConfigError);
  return (refusal as ConfigError).problems;
}

describe('openEmbedded', () => {
  it.skipIf(!existsSync('/proc/self'))('rejects at once if --data-dir cannot be made', async () => {
    expect(await problemsOf({ 'data-dir': '/proc/nothing' })).toEqual([
      '--data-dir: /proc/nothing cannot be used (no such file or directory, ENOENT); choose a folder that this user may write to.',
    ]);
  });

  it.each<FlagName>(['service-account-signing-key-file', 'service-account-key-file', 'token-auth-file'])(
    'rejects with the flag and the path if the file of --%s is missing',
    async (flag) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'straddle-open-'));
      expect(await problemsOf({ 'data-dir': dataDir, [flag]: '/nowhere/file' })).toEqual([
        `--${flag}: /nowhere/file cannot be read (no such file or directory, ENOENT).`,
      ]);
      rmSync(dataDir, { recursive: true });
    },
  );

  it('rejects before the start if the kubeconfig cannot be written', async () => {
    const flags = { 'data-dir': join(other, 'nowhere'), 'admin-kubeconfig': '/nowhere/config' };
    expect((await problemsOf(flags)).join()).toMatch(/^--admin-kubeconfig: \/nowhere cannot be written to \(no such/);
  });

  it('removes the kubeconfig of an earlier start if it gets clients of another authority, and no other file', async () => {
    const dataDir = join(other, 'clients');
    mkdirSync(dataDir);
    const path = join(dataDir, 'kubeconfig');
    const first = await openEmbedded(configOf({ 'data-dir': dataDir }), logger);
    expect(await first.announce({ port: 7443 } as RunningServer)).toBe(path);
    await first.backend.close();
    expect(readFileSync(path, 'utf8')).toContain('server: https://127.0.0.1:7443');
    const flags = { 'data-dir': dataDir, 'client-ca-file': join(dataDir, 'pki', 'front-proxy-ca.crt') };
    const second = await openEmbedded(configOf(flags), logger);
    expect(existsSync(path)).toBe(false);
    expect(await second.announce({ port: 7443 } as RunningServer)).toBeUndefined();
    await second.backend.close();
    writeFileSync(path, 'apiVersion: v1\nkind: Config\n');
    const third = await openEmbedded(configOf(flags), logger);
    await third.backend.close();
    expect(existsSync(path)).toBe(true);
  });

  it('rejects before the start if something else would be lost with the file of the kubeconfig', async () => {
    const dataDir = join(other, 'lost');
    const path = join(other, 'own-config');
    const flags = { 'data-dir': dataDir, 'admin-kubeconfig': path };
    const first = await openEmbedded(configOf(flags), logger);
    await first.announce({ port: 7443 } as RunningServer);
    await first.backend.close();
    const made = readFileSync(path, 'utf8');
    // As `kubectl config` merges it.
    const merged = made.replace('contexts:', '  - name: mine\n    user:\n      token: t\ncontexts:');
    for (const content of [
      merged,
      'apiVersion: v1\nkind: Config\nusers: [{name: admin}]\nclusters: [{name: prod}]\n',
      'notes\n',
    ]) {
      writeFileSync(path, content);
      expect((await problemsOf(flags)).join()).toMatch(/^--admin-kubeconfig: .* choose another file/);
      // None is written then, so this one may stay.
      const clientCa = { 'client-ca-file': join(dataDir, 'pki', 'front-proxy-ca.crt') };
      const none = await openEmbedded(configOf({ ...flags, ...clientCa }), logger);
      await none.backend.close();
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
    for (const content of ['', made, made.replace('"admin"', 'admin')]) {
      writeFileSync(path, content);
      const again = await openEmbedded(configOf(flags), logger);
      expect(await again.announce({ port: 7444 } as RunningServer)).toBe(path);
      await again.backend.close();
    }
  });

  it('rejects with one sentence if --surface-file has a newer format, and creates no files', async () => {
    const surfaceFile = join(dir, 'later.json');
    writeFileSync(surfaceFile, JSON.stringify({ format: 7 }));
    const config = { surfaceFile, dataDir: dir, pkiDir: join(dir, 'pki') } as ApiServerConfig;
    const refusal = await openEmbedded(config, logger).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as ConfigError).problems).toEqual([
      `--surface-file: ${surfaceFile} has the surface format 7 of a newer Straddle, and this one reads format 1: run that newer Straddle, or capture it again with \`straddle surface capture --output=${surfaceFile}\`.`,
    ]);
    expect(readdirSync(dir)).toEqual(['later.json']);
  });

  it.each([
    [
      'a newer format',
      { descriptionsFormat: 7 },
      'has the descriptions format 7 of a newer Straddle, and this one reads format 1: run that newer Straddle, or ',
    ],
    [
      'another version',
      {
        ...{ descriptionsFormat: 1, capturedFrom: 'v1.35.8', version: '1.35' },
        ...{ objects: {}, lists: {}, parameters: {}, types: {} },
      },
      'has the descriptions of v1.35.8, and this server serves 1.36: ',
    ],
  ])('rejects with one sentence if --descriptions-file has %s, and creates no files', async (_, content, sentence) => {
    const descriptionsFile = join(dir, 'later.json');
    writeFileSync(descriptionsFile, JSON.stringify(content));
    const config = {
      ...{ kubernetesVersion: '1.36', descriptionsFile, dataDir: dir, pkiDir: join(dir, 'pki') },
    } as ApiServerConfig;
    const refusal = await openEmbedded(config, logger).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    const { problems } = refusal as ConfigError;
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`--descriptions-file: ${descriptionsFile} ${sentence}`);
    expect(problems[0]).toContain(`\`straddle surface capture --descriptions --output=${descriptionsFile}\``);
    expect(readdirSync(dir)).toEqual(['later.json']);
  });
});
