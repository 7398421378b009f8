import { call } from '../../test/real/rig/http-client.js';
import { cpuSeconds, familyOf } from '../process-cost.js';

/** One way to the same answers. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  /** The proxy between client and API server; undefined for none. */
  readonly proxyPid: number | undefined;
}

export const DIRECT = 'direct';
export const NATIVE = 'native mixed version proxy';
export const NGINX = 'nginx, 1 worker';
export const HAPROXY = 'HAProxy, 1 thread';
export const STRADDLE = 'Straddle';

/** Credentials of a client: a token that every server of the pair accepts. */
export interface Caller {
  readonly ca: string;
  readonly caFile: string;
  readonly token: string;
}

/** Asks once, without load: a contestant that answers another way is out before anything is timed. */
export async function probe(
  { name, url }: Contestant,
  caller: Caller,
  path: string,
  { headers = {}, status = 200, text = '' }: { headers?: Record<string, string>; status?: number; text?: string },
): Promise<{ readonly bytes: number; readonly etag: string | undefined }> {
  const answer = await call({ url, ca: caller.ca, token: caller.token }, path, { headers });
  if (answer.status !== status || !answer.text.includes(text)) {
    throw new Error(`${name}: GET ${path} answered ${answer.status}: ${answer.text.slice(0, 300)}`);
  }
  return { bytes: answer.body.length, etag: answer.headers.etag };
}

export const CPU = 'CPU of the proxy per request';

/** Seconds of CPU that the proxy used while `work` ran; undefined where there is no proxy. */
export async function proxyCpu<T>(
  { proxyPid }: Contestant,
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly cpuSeconds: number | undefined }> {
  if (proxyPid === undefined) return { done: await work(), cpuSeconds: undefined };
  const used = (): number => familyOf(proxyPid).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = used();
  const done = await work();
  return { done, cpuSeconds: used() - before };
}
