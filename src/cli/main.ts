import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, hostname, networkInterfaces } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runStraddle, type Starters } from './program.js';
import type { Surroundings } from './surroundings.js';

/**
 * How much the heap may grow over what a full collection has left before the next one. Left to itself V8 takes a proxy that
 * waits most of the time for an idle program that should stay small: with thousands of watches it then collects
 * everything every few seconds, in pauses that events wait for. It is what V8 allows busy programs.
 */
const HEAP_GROWTH_PERCENT = 200;
setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const surroundings: Surroundings = {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stderrIsTerminal: process.stderr.isTTY === true,
  stdoutIsTerminal: process.stdout.isTTY === true,
  environment: process.env,
  homeDirectory: homedir(),
  hostname: hostname(),
  addresses: Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  readFile: (path) => readFileSync(path, 'utf8'),
  writeFile: (path, text) => writeFileSync(path, text),
  nowMs: Date.now,
  onStopSignal(listener) {
    for (const signal of STOP_SIGNALS) process.on(signal, listener);
    return () => {
      for (const signal of STOP_SIGNALS) process.off(signal, listener);
    };
  },
  exitNow: (code) => process.exit(code),
};

/** Workers of `--workers` are this same program. No command of a user's: without a head there is nothing to serve. */
const WORKER_ARGUMENT = 'worker';
const workerProgram = { execArgv: process.execArgv, file: process.argv[1]!, arguments: [WORKER_ARGUMENT] };
const isWorker = process.argv[2] === WORKER_ARGUMENT && process.send !== undefined;

/** Loaded only when it is needed: `straddle --help` should not wait for the whole server. */
const start: Starters = {
  proxy: async (config, io) =>
    (await import('../compose/start-proxy.js')).startProxy(config, { ...io, program: workerProgram }),
  apiServer: async (config, io) => (await import('../compose/start-proxy.js')).startApiServer(config, io),
  controlPlane: async (options) => (await import('../tools/plane/control-plane.js')).startControlPlane(options),
  rehearse: async (options, places) => {
    const [{ rehearse }, { startRehearsalPlane }] = await Promise.all([
      import('../tools/rehearse/rehearse.js'),
      import('../tools/plane/start-rehearsal-plane.js'),
    ]);
    return rehearse({ ...options, start: (wanted) => startRehearsalPlane(places, wanted) });
  },
};

// A pipe that is closed early (`straddle rbac | head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const code = isWorker
  ? await (await import('../compose/proxy-worker.js')).runProxyWorker(surroundings)
  : await runStraddle(process.argv.slice(2), surroundings, start);
// Once all is closed nothing may keep the process, but output that still waits for its pipe must get out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
