import { describe, expect, it } from 'vitest';
import type { ServerStatus, StatusReport } from '../tools/inspect/status-report.js';
import type { Output } from './inspect-options.js';
import type { Surroundings } from './surroundings.js';
import { watchStatus } from './watch-status.js';

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

const SERVER: ServerStatus = {
  name: 'a',
  address: '10.0.0.1:6443',
  kind: 'straddle sidecar',
  version: 'v1.37.1',
  emulatedVersion: null,
  uptimeSeconds: 60,
  health: 'ready',
  lease: { name: 'lease-a', ageSeconds: 3, durationSeconds: 40, expired: false },
  peers: [],
  reroutes: 7,
  wrong404sPrevented: 5,
  heldBack: 0,
  surfaceAgeSeconds: 1,
  departedServers: 0,
  addressConflicts: 0,
  certificateExpires: null,
  passthrough: false,
  passthroughSince: null,
};

const reportOf = (...servers: Partial<ServerStatus>[]): StatusReport => ({
  door: 'https://door',
  servers: servers.map((each) => ({ ...SERVER, ...each })),
  notes: [],
});

interface Rounds {
  readonly output?: Output;
  readonly terminal?: Partial<Surroundings>;
  /** What each look gives; SIGINT comes in the pause after the last one. */
  readonly looks: readonly (StatusReport | Error | 'never ends')[];
}

async function watched({ output = 'table', terminal = {}, looks }: Rounds) {
  let out = '';
  let err = '';
  let nowMs = NOW_MS;
  let listener: ((signal: string) => void) | undefined;
  const pauses: number[] = [];
  const left = [...looks];
  const surroundings = {
    stdout: (text: string) => {
      out += text;
    },
    stderr: (text: string) => {
      err += text;
    },
    stderrIsTerminal: false,
    environment: { NO_COLOR: '1' },
    nowMs: () => nowMs,
    onStopSignal: (given: typeof listener) => {
      listener = given;
      return () => {
        listener = undefined;
      };
    },
    ...terminal,
  } as Surroundings;
  await watchStatus(
    {
      output,
      everyMs: 2_000,
      look: async () => {
        const look = left.shift()!;
        nowMs += 500;
        if (look === 'never ends') {
          queueMicrotask(() => listener?.('SIGINT'));
          return new Promise(() => {});
        }
        if (look instanceof Error) throw look;
        return look;
      },
      pause: async (ms) => {
        pauses.push(ms);
        nowMs += ms;
        if (left.length === 0) listener?.('SIGINT');
      },
    },
    surroundings,
  );
  return { out, err, pauses, isListening: listener !== undefined };
}

describe('straddle status --watch in a pipe', () => {
  it('prints a table, with its time, only after a change that is not an age or a counter', async () => {
    const grown = { uptimeSeconds: 62, reroutes: 9, surfaceAgeSeconds: 2, lease: { ...SERVER.lease!, ageSeconds: 5 } };
    const looks = [reportOf({}), reportOf(grown), reportOf({ health: 'not ready: etcd' })];
    const { out, err, isListening } = await watched({ looks });
    expect(err).toBe('');
    expect(out.match(/^NAME /gm)).toHaveLength(2);
    expect(out).toMatch(/^2026-01-02T03:04:05\.500Z\nNAME /);
    expect(out).toMatch(/\n\n2026-01-02T03:04:09\.500Z\nNAME .*\na .* not ready /);
    expect(out).not.toContain('\x1b');
    expect(isListening).toBe(false);
  });

  it('prints no table that looks the same as the one before', async () => {
    const looks = [reportOf({}), reportOf({ departedServers: 1 })];
    expect((await watched({ looks })).out.match(/^NAME /gm)).toHaveLength(1);
    expect((await watched({ looks, output: 'wide' })).out.match(/^NAME /gm)).toHaveLength(2);
    expect((await watched({ looks, output: 'json' })).out.match(/^\{/gm)).toHaveLength(2);
  });

  it('looks at the interval, whatever a look takes', async () => {
    expect((await watched({ looks: [reportOf({}), reportOf({})] })).pauses).toEqual([1_500, 1_500]);
  });

  it('says the error of a round once, goes on, and prints the table again after it', async () => {
    const refused = new Error('connection refused\x1b[2J');
    const { out, err } = await watched({ looks: [reportOf({}), refused, refused, reportOf({})] });
    expect(err).toBe('straddle: connection refused\n');
    expect(out.match(/^NAME /gm)).toHaveLength(2);
  });

  it('prints one line of JSON for each change', async () => {
    const looks = [reportOf({}), reportOf({}), reportOf({ version: 'v1.37.2' })];
    const lines = (await watched({ output: 'json', looks })).out.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as StatusReport).servers[0]!.version)).toEqual(['v1.37.1', 'v1.37.2']);
  });

  it('prints one document of YAML for each change', async () => {
    const { out } = await watched({ output: 'yaml', looks: [reportOf({}), reportOf({ version: 'v2' })] });
    expect(out.match(/^---\ndoor: /gm)).toHaveLength(2);
  });

  it('ends in the middle of a look that does not end', async () => {
    const { out } = await watched({ looks: [reportOf({}), 'never ends'] });
    expect(out.match(/^NAME /gm)).toHaveLength(1);
  });

  it('has no cursor sequences on a terminal without them', async () => {
    const terminal = { stdoutIsTerminal: true, environment: { TERM: 'dumb' } };
    expect((await watched({ terminal, looks: [reportOf({})] })).out).not.toContain('\x1b');
  });
});

describe('straddle status --watch on a terminal', () => {
  const terminal = {
    stdoutIsTerminal: true,
    environment: { NO_COLOR: '1', TERM: 'xterm' },
    screenSize: () => ({ columns: 100, rows: 12 }),
  };
  const pages = (out: string): string[] => out.split('\x1b[H').slice(1);

  it('draws each round over the one before, and leaves the last table behind', async () => {
    const { out } = await watched({ terminal, looks: [reportOf({ reroutes: 1 }), reportOf({ reroutes: 2 })] });
    expect(out).toMatch(/^\x1b\[\?1049h/);
    expect(pages(out)).toHaveLength(2);
    expect(pages(out)[0]).toMatch(/^\d\d:\d\d:\d\d, every 2 s, Ctrl-C ends\x1b\[K\r\n/);
    expect(pages(out)[1]).toMatch(/^a .* 2 +1s\x1b\[K\r\n/m);
    const [, after] = out.split('\x1b[?1049l');
    expect(after).toMatch(/^NAME .*\na .* 2 +1s\n/);
    expect(after).not.toContain('\x1b');
  });

  it('draws no more lines than there are', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `server-${index}` }));
    const [page] = pages((await watched({ terminal, looks: [reportOf(...many)] })).out);
    expect(page!.split('\r\n')).toHaveLength(12);
    expect(page).toMatch(/… 44 more lines: the terminal has 12\x1b\[K\x1b\[J/);
  });

  it('shows the error of a round above the last table', async () => {
    const { out, err } = await watched({ terminal, looks: [reportOf({}), new Error('connection refused')] });
    expect(pages(out)[1]).toMatch(
      /^\d\d:\d\d:\d\d: connection refused\x1b\[K\r\nWhat follows is of \d\d:\d\d:\d\d\.\x1b\[K\r\n\x1b\[K\r\nNAME /,
    );
    expect(err).toBe('');
  });

  it('gives the screen back in the middle of a look that does not end', async () => {
    const { out } = await watched({ terminal, looks: ['never ends'] });
    expect(out).toMatch(/\x1b\[\?25h\x1b\[\?1049l$/);
  });
});
