/** `npm run test:interop`: HTTP/2 clients of others against the HTTP/2 server of `src/http/http2`. */

import { ensureBinaries, INTEROP_BINARIES } from '../real/rig/binaries.js';
import { requireProgram } from '../real/rig/debian-program.js';
import { within } from '../real/rig/eventually.js';
import { curlCases } from './curl.js';
import { goCases } from './go-client.js';
import { h2spec } from './h2spec.js';
import type { InteropCase } from './interop-case.js';
import { nghttpCases } from './nghttp.js';
import { nodeCases } from './node-client.js';
import { InteropServer } from './server.js';

const USAGE = `Usage: npm run test:interop -- [<client> …]

Runs h2spec and the HTTP/2 clients of Go (net/http), curl, nghttp2 (nghttp, h2load) and Node.js against the listener.
Needs curl and nghttp2-client (Debian packages), and Go once to build h2spec and the Go client.

  <client>    only cases whose names begin with this: h2spec, go, curl, nghttp, h2load, node
`;

const CASE_TIMEOUT_MS = 90_000;

function allCases(): InteropCase[] {
  const curl = requireProgram('curl', 'curl');
  const nghttp = requireProgram('nghttp', 'nghttp2-client');
  const h2load = requireProgram('h2load', 'nghttp2-client');
  return [h2spec, ...nodeCases, ...goCases(), ...curlCases(curl), ...nghttpCases({ nghttp, h2load })];
}

async function runCase(each: InteropCase): Promise<boolean> {
  const server = new InteropServer();
  const startedMs = Date.now();
  let told: string | undefined;
  let failure: Error | undefined;
  try {
    await server.start();
    told = await within(each.name, CASE_TIMEOUT_MS, each.run(server));
    const faults = server.faults();
    if (faults.length > 0) throw new Error(`the listener logged: ${faults.join('; ')}`);
  } catch (error) {
    failure = error as Error;
  } finally {
    await server.close();
  }
  const took = `${((Date.now() - startedMs) / 1000).toFixed(1)}s`;
  const detail = told === undefined ? '' : ` (${told})`;
  process.stdout.write(`${failure ? 'FAIL' : 'ok  '} ${each.name}${detail}  ${took}\n`);
  if (failure) process.stdout.write(`${failure.message.replace(/^/gm, '        ')}\n`);
  return failure === undefined;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  await ensureBinaries((line) => void process.stdout.write(`${line}\n`), INTEROP_BINARIES);
  const chosen = allCases().filter(({ name }) => args.length === 0 || args.some((arg) => name.startsWith(`${arg}:`)));
  if (chosen.length === 0) {
    process.stderr.write(`no case of ${args.join(', ')}\n\n${USAGE}`);
    return 2;
  }
  let passed = 0;
  for (const each of chosen) if (await runCase(each)) passed += 1;
  const failed = chosen.length - passed;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
