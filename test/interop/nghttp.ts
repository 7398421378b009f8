import { randomBytes } from 'node:crypto';
import { type InteropCase, same } from './interop-case.js';
import { runProgram } from './run-program.js';
import { digestOf, type InteropServer, largeFields, pattern } from './server.js';

const MEGABYTE = 1024 * 1024;

export interface NghttpPrograms {
  readonly nghttp: string;
  readonly h2load: string;
}

/** nghttp2's own client, which shows every frame, and its load generator. */
export function nghttpCases({ nghttp, h2load }: NghttpPrograms): InteropCase[] {
  const body = async (server: InteropServer, path: string, ...args: string[]): Promise<Buffer> =>
    (await runProgram(nghttp, [...args, `${server.url}${path}`])).stdout;
  /** The frames that were sent and received, as text. */
  const frames = async (server: InteropServer, path: string, ...args: string[]): Promise<string> =>
    (await body(server, path, '--null-out', '--verbose', ...args)).toString();
  const load = async (server: InteropServer, path: string, requests: number, ...args: string[]): Promise<string> => {
    const { stdout } = await runProgram(h2load, [`--requests=${requests}`, ...args, `${server.url}${path}`]);
    const report = stdout.toString();
    const [, succeeded] = /^requests: .* (\d+) succeeded, 0 failed, 0 errored, 0 timeout$/m.exec(report) ?? [];
    if (Number(succeeded) !== requests) throw new Error(report);
    return report;
  };
  const simple = (name: string, run: (server: InteropServer) => Promise<unknown>): InteropCase => ({
    name,
    async run(server) {
      await run(server);
      return undefined;
    },
  });

  return [
    simple('nghttp: stream windows of 1,023 bytes', async (server) => {
      const received = await body(server, '/stream/300000', '--window-bits=10');
      same('the body', digestOf(received), digestOf(pattern(300_000)));
    }),

    simple('nghttp: a window of 1,023 bytes for the connection', async (server) => {
      const received = await body(server, '/size/300000', '--connection-window-bits=10', '--window-bits=10');
      same('the body', digestOf(received), digestOf(pattern(300_000)));
    }),

    simple('nghttp: 100 requests at once, 32 MiB each way', async (server) => {
      const log = await frames(server, '/size/10000', '--multiply=100');
      same('answers', log.match(/recv \(stream_id=\d+\) :status: 200/g)?.length, 100);
      const sent = randomBytes(32 * MEGABYTE);
      const received = await body(server, '/echo', `--data=${server.file('body', sent)}`);
      same('the body that came back', digestOf(received), digestOf(sent));
    }),

    simple('nghttp: 30 kB of headers in CONTINUATION, with padding and without a header table', async (server) => {
      const fields = largeFields(30_000);
      const args = fields.flatMap((name, i) => (i % 2 === 0 ? [`--header=${name}: ${fields[i + 1]}`] : []));
      const odd = ['--continuation', '--padding=200', '--header-table-size=0'];
      const values = fields.filter((_, i) => i % 2 === 1).join('');
      const seen = await body(server, '/header-digest', ...odd, ...args);
      same('the headers that the server saw', seen.toString(), digestOf(Buffer.from(values)));
    }),

    simple('nghttp: trailers of the answer, and of a request', async (server) => {
      const sent = [`--data=${server.file('body', 'x')}`, '--trailer=x-request-checksum: 41'];
      const log = await frames(server, '/trailers', ...sent);
      for (const trailer of ['x-checksum: 42', 'x-last: yes']) {
        if (!log.includes(trailer)) throw new Error(`no trailer ${trailer} in:\n${log}`);
      }
    }),

    simple('nghttp: 100 Continue before a body that is held back', async (server) => {
      const file = server.file('body', 'held back');
      const log = await frames(server, '/digest', `--data=${file}`, '--expect-continue');
      const order = log.match(/(recv \(stream_id=\d+\) :status: \d+|send DATA frame)/g)?.join(', ');
      const expected = /^recv \(stream_id=\d+\) :status: 100, send DATA frame, recv \(stream_id=\d+\) :status: 200$/;
      if (!expected.test(order ?? '')) throw new Error(`${order} in:\n${log}`);
    }),

    simple('nghttp: GOAWAY on drain with a request under way, which is answered', async (server) => {
      const log = frames(server, '/hold/x');
      await Promise.race([server.arrived('x'), log]);
      const drained = server.drain(30_000);
      server.release('x');
      const text = await log;
      for (const seen of [/recv GOAWAY frame/, /error_code=NO_ERROR/, /:status: 200/]) {
        if (!seen.test(text)) throw new Error(`no ${seen} in:\n${text}`);
      }
      await drained;
    }),

    simple('h2load: 20,000 requests on 10 connections, 100 at once on each', (server) =>
      load(server, '/', 20_000, '--clients=10', '--max-concurrent-streams=100'),
    ),

    simple('h2load: large answers into small windows', (server) =>
      load(server, `/stream/${MEGABYTE}`, 100, '--clients=5', '--max-concurrent-streams=10', '--window-bits=14'),
    ),

    simple('h2load: bodies in both directions', (server) => {
      const file = server.file('body', randomBytes(100_000));
      return load(server, '/echo', 1_000, '--clients=5', '--max-concurrent-streams=20', `--data=${file}`);
    }),
  ];
}
