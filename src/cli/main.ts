import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, hostname, networkInterfaces } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { ENDS_WITH_PARENT } from '../tools/plane/server-process.js';
import { openBrowser } from './open-browser.js';
import { runStraddle, type Starters } from './program.js';
import type { Surroundings } from './surroundings.js';

/**
 * Growth of the heap after a full garbage collection that triggers the next one; V8 allows it to busy programs. By default
 * V8 keeps the heap of a proxy that mostly waits small: with thousands of watches there is a full collection every few
 * seconds, and its pauses delay events.
 */
const HEAP_GROWTH_PERCENT = 200;
setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);

const stopSignals: NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
let outlastsTerminal = false;
/** A server process of `straddle up` stops when that one is gone, however it ended. */
const endsWithParent = process.env[ENDS_WITH_PARENT] !== undefined && process.send !== undefined;

const surroundings: Surroundings = {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stderrIsTerminal: process.stderr.isTTY === true,
  stdoutIsTerminal: process.stdout.isTTY === true,
  screenSize: () => {
    const { columns, rows } = process.stdout;
    return columns && rows ? { columns, rows } : undefined;
  },
  environment: process.env,
  homeDirectory: homedir(),
  hostname: hostname(),
  addresses: Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  readFile: (path) => readFileSync(path, 'utf8'),
  writeFile: (path, text) => writeFileSync(path, text),
  nowMs: Date.now,
  onStopSignal(listener) {
    const orphaned = (): void => listener('SIGTERM');
    for (const signal of stopSignals) process.on(signal, listener);
    if (endsWithParent) {
      process.on('disconnect', orphaned);
      if (!process.connected) setImmediate(orphaned);
    }
    return () => {
      for (const signal of stopSignals) process.off(signal, listener);
      process.off('disconnect', orphaned);
    };
  },
  outlastTerminal() {
    outlastsTerminal = true;
    stopSignals.push('SIGHUP');
    process.stderr.on('error', () => {});
  },
  openBrowser: (address) => openBrowser(address, { environment: process.env }),
  exitNow: (code) => process.exit(code),
};

/** Runs this program as a worker of `--workers`, started by its head only. */
const WORKER_ARGUMENT = 'worker';
const workerProgram = { execArgv: process.execArgv, file: process.argv[1]!, arguments: [WORKER_ARGUMENT] };
const isWorker = process.argv[2] === WORKER_ARGUMENT && process.send !== undefined;

/** Imports the server only when it is needed, so that `straddle --help` does not wait for it. */
const start: Starters = {
  proxy: async (config, io) =>
    (await import('../compose/start-proxy.js')).startProxy(config, { ...io, program: workerProgram }),
  apiServer: async (config, io) => (await import('../compose/start-api-server.js')).startApiServer(config, io),
  controlPlane: async (options) => (await import('../tools/plane/control-plane.js')).startControlPlane(options),
  testControlPlane: async (options) => (await import('../tools/testing/index.js')).startControlPlane(options),
  rehearse: async (options, places) => {
    const [{ rehearse }, { startRehearsalPlane }] = await Promise.all([
      import('../tools/rehearse/rehearse.js'),
      import('../tools/plane/start-rehearsal-plane.js'),
    ]);
    return rehearse({ ...options, start: (wanted) => startRehearsalPlane(places, wanted) });
  },
};

// A pipe that its reader closes early (`straddle rbac | head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!outlastsTerminal) process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const code = isWorker
  ? await (await import('../compose/proxy-worker.js')).runProxyWorker(surroundings)
  : await runStraddle(process.argv.slice(2), surroundings, start);
// Open handles must not keep the process alive, but buffered output is written first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
