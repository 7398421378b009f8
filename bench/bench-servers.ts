import type { ServerVersions } from '../test/real/rig/chosen-servers.js';

/** The servers that are measured; they stay the same when the rig's default ones change, or figures could not be compared. */
export const BENCH_SERVERS: ServerVersions = { a: 'v1.35.8', b: 'v1.36.4', c: 'v1.36.4' };
