import type { Agent } from 'node:https';
import { type Answer, call, type Endpoint } from '../../real/rig/http-client.js';

const TRIES_MAX = 10;

/** GETs that were sent again, because their connection was cut before any answer. */
export class CutConnections {
  count = 0;
}

/**
 * A GET as client-go sends it: again, up to ten times, where the connection was reset or closed before the first byte of an
 * answer. A refused connection, an answer that breaks off and one that does not come are failures.
 */
export async function retriedGet(
  endpoint: Endpoint,
  path: string,
  { agent, cuts }: { readonly agent?: Agent; readonly cuts: CutConnections },
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await call(endpoint, path, agent === undefined ? {} : { agent });
    } catch (error) {
      if (!wasCut(error as NodeJS.ErrnoException) || tries === TRIES_MAX) throw error;
      cuts.count += 1;
    }
  }
}

/** Node.js says `aborted` of an answer that broke off. */
function wasCut({ code, message }: NodeJS.ErrnoException): boolean {
  return (code === 'ECONNRESET' || code === 'EPIPE') && message !== 'aborted';
}
