import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import type { ControlPlane, ControlPlaneOptions } from '../tools/testing/index.js';
import { runStraddle } from './program.js';
import type { Surroundings } from './surroundings.js';

vi.setConfig({ testTimeout: 60_000 });

const never = () => Promise.reject(new Error('not started here'));

interface Ended {
  readonly code: number;
  readonly err: string;
  readonly asked: readonly ControlPlaneOptions[];
  readonly closed: number;
}

interface Running {
  readonly ended: Promise<Ended>;
  signal(name: string): void;
}

/** Runs the command line before a control plane that is not there. */
function begin(argv: readonly string[]): Running {
  let err = '';
  let closed = 0;
  const asked: ControlPlaneOptions[] = [];
  const listeners = new Set<(signal: string) => void>();
  const plane = {
    kubeconfig: 'apiVersion: v1\ncontexts: []\ncurrent-context: front\n',
    servers: [{ name: 'server-1', version: '1.37' }],
    close: async () => {
      closed++;
    },
  } as unknown as ControlPlane;
  const surroundings: Surroundings = {
    stdout: () => {},
    stderr: (text) => {
      err += text;
    },
    stderrIsTerminal: false,
    environment: { PATH: process.env['PATH'], KEPT: 'yes' },
    homeDirectory: '/nowhere',
    hostname: 'cp1',
    addresses: [],
    readFile: () => '',
    writeFile: () => {},
    nowMs: () => 0,
    onStopSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    outlastTerminal: () => {},
    exitNow: () => {},
  };
  const testControlPlane = async (options: ControlPlaneOptions): Promise<ControlPlane> => {
    asked.push(options);
    return plane;
  };
  const starters = { proxy: never, apiServer: never, controlPlane: never, rehearse: never, testControlPlane };
  const code = runStraddle(['test', ...argv], surroundings, starters);
  return {
    ended: code.then((exit) => ({ code: exit, err, asked, closed })),
    signal: (name) => {
      for (const listener of listeners) listener(name);
    },
  };
}

const node = (script: string): string[] => ['--', process.execPath, '-e', script];

describe('straddle test', () => {
  it('ends with the exit code of the command, after the control plane was stopped', async () => {
    expect(await begin(node('process.exit(7)')).ended).toMatchObject({ code: 7, closed: 1 });
    expect(await begin(node('')).ended).toMatchObject({ code: 0, closed: 1 });
    expect(await begin(node('process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 9)')).ended).toMatchObject({
      code: 143,
      closed: 1,
    });
  });

  it('gives the command a kubeconfig, the variable of envtest, and the environment', async () => {
    const script = `
      const { KUBECONFIG, USE_EXISTING_CLUSTER, KEPT } = process.env;
      const text = require('node:fs').readFileSync(KUBECONFIG, 'utf8');
      const isRight = USE_EXISTING_CLUSTER === 'true' && KEPT === 'yes' && text.includes('current-context: server-1');
      process.exit(isRight ? 5 : 1);`;
    expect(await begin(['--context=server-1', ...node(script)]).ended).toMatchObject({ code: 5 });
  });

  it('passes arguments of the command on as they are', async () => {
    const script = 'process.exit(process.argv.slice(1).join() === "--a_b,-v=1,--versions=x" ? 6 : 1)';
    expect(await begin([...node(script), '--', '--a_b', '-v=1', '--versions=x']).ended).toMatchObject({ code: 6 });
  });

  it('starts the control plane that its flags ask for', async () => {
    const flags = ['--versions=1.35,v1.36.2', '--no-proxy', '--runtime-config=a/v1=true,b/v1=true', '--crds=./crds'];
    expect((await begin([...flags, ...node('')]).ended).asked).toEqual([
      { versions: ['1.35', '1.36'], proxy: false, runtimeConfig: ['a/v1=true', 'b/v1=true'], crds: ['./crds'] },
    ]);
    expect((await begin(node('')).ended).asked).toEqual([{ proxy: true, runtimeConfig: [], crds: [] }]);
  });

  it('passes a stop signal on to the command', async () => {
    const { ended, signal } = begin(node('process.on("SIGTERM", () => process.exit(9)); setInterval(() => {}, 9)'));
    // The command has its listener a moment after it has begun.
    const again = setInterval(() => signal('SIGTERM'), 2_000);
    const { code, closed } = await ended;
    clearInterval(again);
    expect([9, 143]).toContain(code);
    expect(closed).toBe(1);
  });

  it('says what is wrong with a command or a context that is not there', async () => {
    expect(await begin(['--', 'no-such-program-xyz']).ended).toMatchObject({
      code: 127,
      err: expect.stringMatching(/no-such-program-xyz cannot be run: there is no such program; is it on the PATH\?\n$/),
      closed: 1,
    });
    expect(await begin(['--context=server-9', ...node('')]).ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('--context: there is no context server-9; there are front, server-1.'),
      closed: 1,
    });
    expect((await begin([]).ended).err).toMatch(/missing required argument 'command'/i);
  });

  it('runs a command against servers that answer, and leaves nothing behind', async () => {
    const script = `
      const { readFileSync } = require('node:fs');
      const { request } = require('node:https');
      const text = readFileSync(process.env.KUBECONFIG, 'utf8');
      const pem = (name) => Buffer.from(new RegExp(name + '-data: (.*)').exec(text)[1], 'base64');
      const [, url] = /server: (.*)/.exec(text);
      const tls = { ca: pem('certificate-authority'), cert: pem('client-certificate'), key: pem('client-key') };
      request(url + '/api/v1/namespaces/default', tls, (reply) => {
        console.log('status', reply.statusCode, process.env.KUBECONFIG);
        process.exit(reply.statusCode === 200 ? 3 : 1);
      }).end();`;
    const main = fileURLToPath(new URL('./main.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', main, 'test', '--versions=1.37', ...node(script)]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const [, kubeconfig] = /^status 200 (.*)\n/.exec(output) ?? [];
    expect(output).toMatch(/^status 200 /);
    expect(code).toBe(3);
    expect(existsSync(kubeconfig!)).toBe(false);
  });
});
