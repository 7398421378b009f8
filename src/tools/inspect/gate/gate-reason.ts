/** Why a gate is not open, in the order of the report. Scripts name them in --allow. */
export const REASON_IDS = [
  'servers',
  'unreachable',
  'not-ready',
  'unprotected',
  'passthrough',
  'peers',
  'rollout',
  'discovery',
  'sole-server',
  'stale-surface',
  'migration',
  'stored-versions',
  'stored-objects',
  'certificates',
  'checks',
] as const;

export type ReasonId = (typeof REASON_IDS)[number];

/** One reason, with the servers or resources that it is about. */
export interface GateReason {
  readonly id: ReasonId;
  /** `unknown`: the condition could not be judged. `allowed`: closed, and accepted by the operator. */
  readonly verdict: 'closed' | 'unknown' | 'allowed';
  /** One sentence without its full stop. */
  readonly detail: string;
  /** The next step, one sentence. */
  readonly next: string;
  readonly servers: readonly string[];
  /** As `straddle diff` names them; all of them, though the sentence has a few only. */
  readonly resources: readonly string[];
}

type Said = Pick<GateReason, 'detail' | 'next'> & Partial<Pick<GateReason, 'servers' | 'resources'>>;

export function closed(id: ReasonId, { servers = [], resources = [], ...said }: Said): GateReason {
  return { id, verdict: 'closed', ...said, servers, resources };
}

export function unknown(id: ReasonId, { servers = [], resources = [], ...said }: Said): GateReason {
  return { id, verdict: 'unknown', ...said, servers, resources };
}

/** Sentence for a missing right. */
export function askForRight(right: string): string {
  return `Run it as a user with the right to ${right}.`;
}

export const METRICS_RIGHT = 'get the non-resource URL /metrics';

/** The commands that these sentences were written for call the flag `--server`; here that names the server to be replaced. */
export function withFlagOfGate(sentence: string): string {
  return sentence.replaceAll('--server', '--address');
}
