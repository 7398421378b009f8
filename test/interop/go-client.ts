import { setTimeout as delay } from 'node:timers/promises';
import { binaryPath, HTTP2_CLIENT } from '../real/rig/binaries.js';
import { eventually } from '../real/rig/eventually.js';
import type { InteropCase } from './interop-case.js';
import { runProgram } from './run-program.js';
import type { InteropServer } from './server.js';

/** The client asks whether the connection is alive after 50 ms without a frame. */
const SILENT_MS = 400;

/** Cases of test/real/modules/http2-client: Go's net/http, which kubectl and every controller use. */
const CASES: Readonly<Record<string, { readonly name: string; readonly beside?: Beside }>> = {
  parallel: { name: '1,000 requests on one connection of 100 streams, then 500 at once' },
  'large-bodies': { name: '32 MiB in each direction, and 20 bodies at once both ways' },
  'small-windows': { name: 'windows of 64 KiB for the connection and its streams' },
  trailers: { name: 'trailers of the answer, and of a request' },
  cancel: { name: '50 requests that are cancelled in the middle of their answers', beside: cancelled },
  drain: { name: 'GOAWAY on drain with 20 requests under way, all of which are answered', beside: drain },
  'large-headers': { name: '40 kB of headers sent and 100 kB received (CONTINUATION)' },
  ping: { name: 'PING while an answer takes its time', beside: beSilent },
  continue: { name: '100 Continue before a body that is held back' },
  bodiless: { name: 'HEAD, 204 and 304 have no body' },
  errors: { name: 'errors and answers that break off leave the connection usable' },
};

/** The part of a case that the server's side has while the client runs. */
type Beside = (server: InteropServer) => Promise<void>;

export function goCases(): InteropCase[] {
  return Object.entries(CASES).map(([argument, { name, beside }]) => ({
    name: `go: ${name}`,
    async run(server) {
      const client = runProgram(binaryPath(HTTP2_CLIENT), [server.url, server.caFile, argument]);
      await Promise.all([client, beside?.(server)]);
      return undefined;
    },
  }));
}

async function drain(server: InteropServer): Promise<void> {
  const names = Array.from({ length: 20 }, (_, i) => String(i));
  await Promise.all(names.map((name) => server.arrived(name)));
  const drained = server.drain(30_000);
  for (const name of names) server.release(name);
  await drained;
}

async function cancelled(server: InteropServer): Promise<void> {
  await eventually('all answers are given up by the server', () => server.cancelledAnswers === 50);
}

async function beSilent(server: InteropServer): Promise<void> {
  await server.arrived('ping');
  await delay(SILENT_MS);
  server.release('ping');
}
