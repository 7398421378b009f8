import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.js';
import { silentLogger } from '../base/logger.js';
import { createMetrics } from '../base/metric-catalogue.js';
import type { FlagName } from './config/flags.js';
import { loadProxyConfig } from './config/load-proxy-config.js';
import { type ServerSurroundings, startServer } from './start-server.js';

const FLAGS: Partial<Record<FlagName, string>> = {
  'tls-cert-file': 'tls.crt',
  'tls-private-key-file': 'tls.key',
  upstream: 'https://127.0.0.1:7443',
  'upstream-ca-file': 'ca.crt',
};

/** Surroundings with parts that do nothing, and what was closed of them. */
function surroundings() {
  const closed: string[] = [];
  const host = {};
  const view = { local: {}, directory: {} };
  const listen = () => Promise.reject(Object.assign(new Error('in use'), { code: 'EADDRINUSE' }));
  const made = {
    clock: systemClock,
    logger: silentLogger,
    metrics: createMetrics(),
    tls: { close: () => closed.push('tls'), onOutgoingChange: () => {} },
    passthrough: { state: { on: false }, close: async () => void closed.push('passthrough') },
    makeHost: () => host,
    makeView: async () => view,
    makePage: () => ({}),
    makeFront: () => ({ listener: { listen } }),
    makeControllers: () => ({}),
  };
  return { closed, made: made as unknown as ServerSurroundings };
}

describe('startServer', () => {
  const config = loadProxyConfig(new Map(Object.entries(FLAGS).map(([flag, value]) => [flag as FlagName, [value]])), {
    hostname: 'cp1',
    addresses: ['127.0.0.1'],
    readFile: () => {
      throw new Error('not expected');
    },
  });

  it.each(['makeHost', 'makeView', 'makePage', 'makeFront', 'makeControllers'])(
    'leaves nothing running if %s fails',
    async (part) => {
      const { made, closed } = surroundings();
      const failing = () => {
        throw new Error('cannot be made');
      };
      await expect(startServer(config, { ...made, [part]: failing })).rejects.toThrow('cannot be made');
      expect(closed.sort()).toEqual(['passthrough', 'tls']);
    },
  );

  it('leaves nothing running if the port is in use', async () => {
    const { made, closed } = surroundings();
    await expect(startServer(config, made)).rejects.toThrow('0.0.0.0:6443 is in use by another process');
    expect(closed.sort()).toEqual(['passthrough', 'tls']);
  });
});
