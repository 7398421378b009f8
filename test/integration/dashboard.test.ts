import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runStraddle } from '../../src/cli/program.js';
import type { Surroundings } from '../../src/cli/surroundings.js';
import { ControlPlane, eventually, type Member } from './control-plane.js';
import { COMMON } from './fake-apiserver.js';

const SERVED = { ...COMMON, 'authentication.k8s.io/v1/selfsubjectreviews': 'create' };

interface Run {
  out: string;
  err: string;
  readonly browsers: string[];
  browsersForgotten: number;
  readonly code: Promise<number>;
  readonly stop: () => void;
}

let plane: ControlPlane;
let member: Member;

/** Runs the command with the kubeconfig of a user. */
function dashboard(argv: readonly string[], { server, user }: { server: string; user: string }): Run {
  const config = {
    'current-context': 'c',
    clusters: [
      {
        name: 'c',
        cluster: { server, 'certificate-authority-data': Buffer.from(plane.certificates.ca.pem).toString('base64') },
      },
    ],
    users: [{ name: 'u', user: { token: `${user}-token` } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  const listeners = new Set<(signal: string) => void>();
  const run = { out: '', err: '', browsers: [] as string[], browsersForgotten: 0 };
  const surroundings: Surroundings = {
    stdout: (text) => {
      run.out += text;
    },
    stderr: (text) => {
      run.err += text;
    },
    stderrIsTerminal: false,
    environment: { KUBECONFIG: '/the/kubeconfig' },
    homeDirectory: '/nowhere',
    hostname: 'here',
    addresses: [],
    readFile: () => JSON.stringify(config),
    writeFile: () => {},
    nowMs: Date.now,
    onStopSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    outlastTerminal: () => {},
    openBrowser: (address) => {
      run.browsers.push(address);
      return () => run.browsersForgotten++;
    },
    exitNow: () => {},
  };
  const never = () => Promise.reject(new Error('not started here'));
  const starters = { proxy: never, apiServer: never, controlPlane: never, rehearse: never, testControlPlane: never };
  const code = runStraddle(['dashboard', ...argv], surroundings, starters);
  return Object.assign(run, {
    code,
    stop: () => {
      for (const listener of [...listeners]) listener('SIGINT');
    },
  });
}

function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; cookie: string; text: string }> {
  return new Promise((resolve, reject) => {
    // Unlike browsers, not every resolver knows names under localhost.
    const { host, port, pathname } = new URL(url);
    const to = { host: '127.0.0.1', port, path: pathname, headers: { host, ...headers }, agent: false };
    const sent = request(to, (reply) => {
      let text = '';
      reply.on('data', (chunk) => {
        text += chunk;
        // A stream has no end: its first event is enough.
        if (text.includes('event: state')) sent.destroy();
      });
      const cookie = reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      reply.on('close', () => resolve({ status: reply.statusCode!, cookie, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const straddleUrl = () => `https://127.0.0.1:${member.straddle.port}`;

beforeAll(async () => {
  plane = new ControlPlane();
  member = await plane.add('cp-1', SERVED);
});
afterAll(() => plane.close());

describe('straddle dashboard', () => {
  it('passes the page, its state and its stream on to the browser, until SIGINT', async () => {
    const run = dashboard([], { server: straddleUrl(), user: 'alice' });
    await eventually(
      'the address',
      () => run.out + run.err,
      (text) => text.includes('Ctrl-C'),
    );
    const address = /http:\S+/.exec(run.out)![0];
    expect(run.out).toContain('The page of cp-1');
    expect(run.browsers).toEqual([address]);
    const { cookie } = await get(address);
    const { origin } = new URL(address);
    expect((await get(`${origin}/straddle/`, { cookie })).text).toContain('<main id="verdict"');
    expect(JSON.parse((await get(`${origin}/straddle/api/v1/state`, { cookie })).text)).toMatchObject({
      server: 'cp-1',
    });
    const stream = await get(`${origin}/straddle/api/v1/stream`, { cookie });
    expect([stream.status, stream.text.startsWith('retry: 2000\nevent: state\n')]).toEqual([200, true]);
    expect(run.browsersForgotten).toBe(0);
    run.stop();
    expect(await run.code).toBe(0);
    expect(run.browsersForgotten).toBe(1);
    await expect(get(`${origin}/straddle/`, { cookie })).rejects.toThrow('ECONNREFUSED');
  });

  it('ends with a message when somebody else comes with the address after it was opened', async () => {
    const run = dashboard([], { server: straddleUrl(), user: 'alice' });
    await eventually(
      'the address',
      () => run.out + run.err,
      (text) => text.includes('Ctrl-C'),
    );
    const address = /http:\S+/.exec(run.out)![0];
    expect((await get(address)).status).toBe(200);
    expect((await get(address)).status).toBe(403);
    expect(await run.code).toBe(1);
    expect(run.err).toContain('opened twice');
  });

  it('opens no browser with --no-open, and finds a server by its name', async () => {
    await eventually(
      'the lease of the server',
      () => plane.storage.list('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases').length,
      (leases) => leases > 0,
    );
    const run = dashboard(['--no-open', '--server=cp-1'], { server: straddleUrl(), user: 'alice' });
    await eventually(
      'the address',
      () => run.out + run.err,
      (text) => text.includes('Ctrl-C') || text.includes('straddle:'),
    );
    expect(run.err).toBe('');
    expect(run.out).toContain('The page of cp-1');
    expect(run.browsers).toEqual([]);
    run.stop();
    expect(await run.code).toBe(0);
  });

  it('says which right a user lacks', async () => {
    const run = dashboard([], { server: straddleUrl(), user: 'nobody' });
    expect(await run.code).toBe(1);
    expect(run.err).toContain('needs the right to get the non-resource URL /metrics');
    expect(run.out).toBe('');
  });

  it('says that there is no Straddle where an API server answers 404', async () => {
    const run = dashboard([], { server: `https://127.0.0.1:${member.api.port}`, user: 'alice' });
    expect(await run.code).toBe(1);
    expect(run.err).toContain('has no page: there is no Straddle');
  });

  it('says that nobody answers, with the reason', async () => {
    const run = dashboard([], { server: 'https://127.0.0.1:9', user: 'alice' });
    expect(await run.code).toBe(1);
    expect(run.err).toContain('https://127.0.0.1:9 does not answer: connection refused');
  });
});
