import type { EndpointReading } from '../endpoint-reading.js';
import type { InspectedServer, Inspection } from '../inspection.js';
import { type Protection, protectionOf } from '../protection.js';
import type { InspectedSurface } from '../surfaces.js';

export type CheckVerdict = 'ok' | 'warn' | 'FAIL' | 'unknown';

/** One thing that was looked at. */
export interface CheckLine {
  /** `*` for the control plane as a whole. */
  readonly server: string;
  readonly address: string | null;
  readonly check: string;
  readonly verdict: CheckVerdict;
  /** What was found: a piece of a sentence. */
  readonly detail: string;
  /** With FAIL, and some warnings: one sentence that says what to do. */
  readonly mend: string | null;
}

export type Finding = Pick<CheckLine, 'check' | 'verdict' | 'detail'> & { readonly mend?: string };

/** What checks are made of: all has been read, they only judge. */
export interface CheckInput {
  readonly inspection: Inspection;
  /** Only of servers where it takes them to judge; by server name. */
  readonly surfaces: ReadonlyMap<string, InspectedSurface>;
  /** The front-proxy certificate, where the operator has it at hand. */
  readonly frontProxy: { readonly path: string; readonly pem: string } | undefined;
}

/** Whoever carries requests to peers on this server's behalf: the Straddle before it, else it itself. */
export function protectorOf({ readings }: InspectedServer): EndpointReading | undefined {
  return readings.find((reading) => protectionOf(reading).kind !== 'kube-apiserver') ?? readings[0];
}

export interface Protector {
  readonly reading: EndpointReading;
  readonly protection: Protection;
}

export const DAY_MS = 24 * 3_600_000;
/** Certificates are to be renewed before that little is left. */
export const CERTIFICATE_DAYS_MIN = 30;
