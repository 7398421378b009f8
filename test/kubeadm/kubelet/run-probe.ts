import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpProbe } from './pod-manifest.js';

/** Resolves to whether the answer counts as success for a kubelet: any status from 200 to 399. */
function ask({ host, port, path, isHttps, timeoutMs }: HttpProbe): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      host,
      port,
      path,
      headers: { 'user-agent': 'kube-probe/test' },
      signal: AbortSignal.timeout(timeoutMs),
      // Each probe has a connection of its own, and a kubelet does not verify certificates.
      agent: false as const,
      rejectUnauthorized: false,
    };
    const request = (isHttps ? httpsGet : httpGet)(options, (response) => {
      response.resume();
      response.once('error', () => {});
      resolve((response.statusCode ?? 500) >= 200 && (response.statusCode ?? 500) < 400);
    });
    request.once('error', () => resolve(false));
  });
}

/** Asks once a period until the signal, and reports each success and each failure that makes the number of failures full. */
export async function runProbe(
  probe: HttpProbe,
  signal: AbortSignal,
  report: (isGood: boolean) => 'go on' | 'end',
): Promise<void> {
  let failures = 0;
  await pause(probe.initialDelayMs, signal);
  while (!signal.aborted) {
    const isGood = await ask(probe);
    if (signal.aborted) return;
    failures = isGood ? 0 : failures + 1;
    if ((isGood || failures >= probe.failuresMax) && report(isGood) === 'end') return;
    await pause(probe.periodMs, signal);
  }
}

/** Also ends at the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
