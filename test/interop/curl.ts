import { randomBytes } from 'node:crypto';
import { type InteropCase, same } from './interop-case.js';
import { type ProgramResult, runProgram, tryProgram } from './run-program.js';
import { digestOf, type InteropServer, largeFields, pattern } from './server.js';

const MEGABYTE = 1024 * 1024;
/** Codes that curl ends with: HTTP/2 stream error, partial file, write error. */
const STREAM_ERROR = 92;

type Curl = (...args: string[]) => Promise<ProgramResult>;

/** curl and the nghttp2 library it is built with. */
export function curlCases(program: string): InteropCase[] {
  return CASES.map(([name, run]) => ({
    name: `curl: ${name}`,
    async run(server) {
      const curl: Curl = (...args) => runProgram(program, [...options(server), ...args]);
      await requireHttp2(curl, server);
      await run(curl, server, program);
      return undefined;
    },
  }));
}

function options(server: InteropServer): string[] {
  return ['--silent', '--show-error', '--http2', '--cacert', server.caFile];
}

async function requireHttp2(curl: Curl, server: InteropServer): Promise<void> {
  const { stdout } = await curl('--write-out', ' %{http_version}', `${server.url}/`);
  same('the body and the version of HTTP', stdout.toString(), 'ok 2');
}

async function expectPattern(curl: Curl, url: string, bytes: number, ...args: string[]): Promise<void> {
  const { stdout } = await curl(...args, url);
  same(`body of ${url}`, digestOf(stdout), digestOf(pattern(bytes)));
}

const CASES: readonly (readonly [string, (curl: Curl, server: InteropServer, program: string) => Promise<void>])[] = [
  [
    '500 requests, 50 at once, on one connection',
    async (curl, server) => {
      const written = ['--parallel', '--parallel-max', '50', '--write-out', '%{http_code} %{num_connects}\\n'];
      const { stdout } = await curl(...written, '--output', '/dev/null', `${server.url}/size/[501-1000]`);
      const lines = stdout.toString().trim().split('\n');
      same('answers', lines.filter((line) => line.startsWith('200 ')).length, 500);
      same('connections', lines.filter((line) => line.endsWith(' 1')).length, 1);
    },
  ],
  [
    '32 MiB in each direction',
    async (curl, server) => {
      await expectPattern(curl, `${server.url}/size/${32 * MEGABYTE}`, 32 * MEGABYTE);
      await expectPattern(curl, `${server.url}/stream/${32 * MEGABYTE}`, 32 * MEGABYTE);
      const body = randomBytes(32 * MEGABYTE);
      const file = server.file('body', body);
      const { stdout: echoed } = await curl('--data-binary', `@${file}`, `${server.url}/echo`);
      same('the body that came back', digestOf(echoed), digestOf(body));
      const { stdout } = await curl('--upload-file', file, `${server.url}/digest`);
      same('the digest of the body', stdout.toString(), digestOf(body));
    },
  ],
  [
    'a client that reads slowly',
    (curl, server) => expectPattern(curl, `${server.url}/stream/${2 * MEGABYTE}`, 2 * MEGABYTE, '--limit-rate', '2M'),
  ],
  [
    'trailers of the answer',
    async (curl, server) => {
      const { stdout } = await curl('--include', `${server.url}/trailers`);
      const [head, ...rest] = stdout.toString().split('\r\n\r\n');
      same('the status', head!.split('\r\n')[0]!.trim(), 'HTTP/2 200');
      const after = rest.join('\n');
      if (!/^body/.test(after) || !/x-checksum: 42\r\n/i.test(after) || !/x-last: yes/i.test(after)) {
        throw new Error(`body and trailers: ${JSON.stringify(after)}`);
      }
    },
  ],
  [
    'GOAWAY on drain with requests under way, all of which are answered',
    async (curl, server) => {
      const answers = curl('--parallel', '--parallel-max', '20', `${server.url}/hold/[0-19]`);
      const names = Array.from({ length: 20 }, (_, i) => String(i));
      await Promise.race([Promise.all(names.map((name) => server.arrived(name))), answers]);
      const drained = server.drain(30_000);
      for (const name of names) server.release(name);
      const { stdout } = await answers;
      same('answers', stdout.toString().match(/held \d+/g)?.length, 20);
      await drained;
    },
  ],
  [
    '30 kB of headers sent and 40 kB received (CONTINUATION)',
    async (curl, server) => {
      const fields = largeFields(30_000);
      const args = fields.flatMap((name, i) => (i % 2 === 0 ? ['--header', `${name}: ${fields[i + 1]}`] : []));
      const { stdout } = await curl(...args, `${server.url}/header-digest`);
      const values = fields.filter((_, i) => i % 2 === 1).join('');
      same('the headers that the server saw', stdout.toString(), digestOf(Buffer.from(values)));
      const { stdout: head } = await curl('--head', `${server.url}/headers/40000`);
      same('headers of the answer', head.toString().match(/^x-part-\d+: .{1000}\r$/gm)?.length, 40);
    },
  ],
  [
    '100 Continue before a body that is held back',
    async (curl, server) => {
      const body = server.file('body', 'held back');
      // Longer than the case may take: curl sends the body when it has waited for so long.
      const expecting = ['--header', 'Expect: 100-continue', '--expect100-timeout', '600'];
      const { stdout } = await curl('--include', ...expecting, '--data-binary', `@${body}`, `${server.url}/digest`);
      const text = stdout.toString();
      if (!text.startsWith('HTTP/2 100') || !text.endsWith(digestOf(Buffer.from('held back')))) {
        throw new Error(`answered with ${JSON.stringify(text)}`);
      }
    },
  ],
  [
    'HEAD, 204 and 304 have no body',
    async (curl, server) => {
      const { stdout: head } = await curl('--head', `${server.url}/size/1000`);
      same('Content-Length of HEAD', /^content-length: (\d+)/m.exec(head.toString())?.[1], '1000');
      for (const status of [204, 304]) {
        const { stdout } = await curl('--write-out', '%{http_code} %{size_download}', `${server.url}/status/${status}`);
        same('status and bytes', stdout.toString(), `${status} 0`);
      }
    },
  ],
  [
    'errors and answers that break off leave the connection usable',
    async (_curl, server, program) => {
      const paths = ['/throws', '/status/500', '/broken', '/nothing', '/'];
      const written = '%{http_code} %{num_connects} %{exitcode}\\n';
      const urls = paths.flatMap((path) => ['--output', '/dev/null', `${server.url}${path}`]);
      const { stdout } = await tryProgram(program, [...options(server), '--write-out', written, ...urls]);
      const expected = [`000 1 ${STREAM_ERROR}`, '500 0 0', `200 0 ${STREAM_ERROR}`, '404 0 0', '200 0 0'];
      same('status, new connections and exit code', stdout.toString().trim(), expected.join('\n'));
    },
  ],
];
