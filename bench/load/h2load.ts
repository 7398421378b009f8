import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Load, type Order, requireRight } from './order.js';

const run = promisify(execFile);

const RUN_TIMEOUT_MS = 120_000;
const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

/** nghttp2's load generator, a process of its own with one thread. */
export async function h2load(program: string, order: Order): Promise<Load> {
  const { stdout } = await run(program, argumentsOf(order), { timeout: RUN_TIMEOUT_MS });
  return readReport(stdout, order);
}

function argumentsOf({ url, path, headers, bodyFile, connections, streams, requests }: Order): string[] {
  return [
    `--clients=${connections}`,
    `--max-concurrent-streams=${streams}`,
    `--requests=${requests}`,
    '--npn-list=h2',
    ...Object.entries(headers).map(([name, value]) => `--header=${name}: ${value}`),
    ...(bodyFile === undefined ? [] : [`--data=${bodyFile}`]),
    `${url}${path}`,
  ];
}

export function readReport(report: string, order: Order): Load {
  const field = (pattern: RegExp): string[] => {
    const found = pattern.exec(report);
    if (found === null) throw new Error(`h2load says nothing of ${pattern}:\n${report}`);
    return found.slice(1);
  };
  const [rate] = field(/^finished in [\d.]+\w+, ([\d.]+) req\/s/m);
  const codes = field(/^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/m);
  const [bytes] = field(/, [\d.]+\w+ \((\d+)\) data$/m);
  const [mean, unit] = field(/^time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)\s/m);
  const ofClass = Number(codes[Math.floor(order.expected.status / 100) - 2]);
  requireRight(order, { right: ofClass, bytes: Number(bytes), told: report });
  return { requests: order.requests, requestsPerSecond: Number(rate), meanMs: Number(mean) * UNIT_MS[unit!]! };
}
