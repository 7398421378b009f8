import { readFileSync } from 'node:fs';
import { createLogger } from '../../src/base/logger.js';
import type { ControlPlaneOptions } from '../../src/tools/plane/control-plane-options.js';

export const machine = {
  hostname: 'test',
  addresses: ['127.0.0.1'],
  readFile: (path: string) => readFileSync(path, 'utf8'),
};

/** A control plane of two versions, its processes run from the sources. */
export function planeOptions(
  dataDir: string,
  more: Partial<ControlPlaneOptions> = {},
): ControlPlaneOptions & { notes: string[] } {
  const notes: string[] = [];
  return {
    dataDir,
    versions: ['1.35', '1.36'],
    port: 0,
    balance: 'request',
    proxy: true,
    controllers: true,
    restart: false,
    etcdServers: [],
    runtimeConfig: ['scheduling.k8s.io/v1alpha2=true', 'internal.apiserver.k8s.io/v1alpha1=true'],
    upstream: undefined,
    self: ['--import', 'tsx', 'src/cli/main.ts'],
    machine,
    logger: createLogger({
      level: 'error',
      format: 'text',
      write: (text) => process.stderr.write(text),
      nowMs: Date.now,
    }),
    progress: () => {},
    note: (sentence) => notes.push(sentence),
    notes,
    ...more,
  };
}
