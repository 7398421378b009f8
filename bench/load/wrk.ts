import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Load, Order } from './order.js';

const run = promisify(execFile);

const RUN_TIMEOUT_MS = 120_000;
/** An answer may be this much larger than its body: wrk counts heads too. */
const HEAD_BYTES_MAX = 2_048;
const MARK = 'wrk-summary ';

/** wrk prints for people; what it hands to this function is exact. */
const DONE = `done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '${MARK}{"requests":%d,"micros":%d,"bytes":%d,"wrong":%d,"failed":%d,"meanMicros":%.3f}\\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency.mean))
end
`;

interface Summary {
  readonly requests: number;
  readonly micros: number;
  readonly bytes: number;
  /** Answers with a status of 400 or more: wrk tells no others apart. */
  readonly wrong: number;
  /** Connections and requests that came to no answer. */
  readonly failed: number;
  readonly meanMicros: number;
}

/** HTTP/1.1 load, a process of its own with one thread; as many connections as the order has requests at once. */
export async function wrk(program: string, order: Order, seconds: number): Promise<Load> {
  if (order.bodyFile !== undefined) throw new Error('wrk is asked for GET only');
  const dir = mkdtempSync(join(tmpdir(), 'straddle-bench-wrk-'));
  try {
    const script = join(dir, 'done.lua');
    writeFileSync(script, DONE);
    const { stdout } = await run(program, argumentsOf(order, seconds, script), { timeout: RUN_TIMEOUT_MS });
    return readSummary(stdout, order);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function argumentsOf({ url, path, headers, connections, streams }: Order, seconds: number, script: string): string[] {
  return [
    '--threads=1',
    `--connections=${connections * streams}`,
    `--duration=${Math.max(1, Math.round(seconds))}s`,
    `--script=${script}`,
    ...Object.entries(headers).map(([name, value]) => `--header=${name}: ${value}`),
    `${url}${path}`,
  ];
}

/** Rejects if replies were wrong, however fast. */
export function readSummary(report: string, { url, path, expected }: Order): Load {
  const [, text] = new RegExp(`^${MARK}(.*)$`, 'm').exec(report) ?? [];
  if (text === undefined) throw new Error(`wrk gave no summary:\n${report}`);
  const { requests, micros, bytes, wrong, failed, meanMicros } = JSON.parse(text) as Summary;
  if (requests === 0 || wrong > 0 || failed > 0) {
    throw new Error(`GET ${url}${path}: ${wrong} of ${requests} answers were errors, ${failed} failed:\n${report}`);
  }
  const each = bytes / requests;
  if (each < expected.bytesMin || each > expected.bytesMax + HEAD_BYTES_MAX) {
    throw new Error(`GET ${url}${path}: answers of ${each} bytes, bodies are ${expected.bytesMin}:\n${report}`);
  }
  return { requests, requestsPerSecond: (requests * 1e6) / micros, meanMs: meanMicros / 1000 };
}
