import type { ApiClient } from '../../rig/api-client.js';

export interface Reading {
  readonly atMs: number;
  /** By the labels of the series: what was asked for, and the code. */
  readonly requests: ReadonlyMap<string, number>;
}

/** How many requests the server has answered so far. */
export async function readingAt(api: ApiClient): Promise<Reading> {
  const requests = new Map<string, number>();
  for (const line of (await api.page('/metrics')).split('\n')) {
    const [, labels, count] = /^apiserver_request_total\{(.*)\} (\d+)/.exec(line) ?? [];
    if (labels !== undefined) requests.set(labels, Number(count));
  }
  return { atMs: Date.now(), requests };
}

export interface Traffic {
  readonly perSecond: number;
  /** What was asked for most. */
  readonly loudest: string;
}

export function requestsBetween(before: Reading, after: Reading): Traffic {
  const grown = [...after.requests]
    .map(([labels, count]) => ({ labels, count: count - (before.requests.get(labels) ?? 0) }))
    .sort((a, b) => b.count - a.count);
  const total = grown.reduce((sum, { count }) => sum + count, 0);
  const loudest = grown.slice(0, 5).map(({ labels, count }) => `${count} × ${labels}`);
  return { perSecond: total / ((after.atMs - before.atMs) / 1000), loudest: loudest.join('; ') };
}
