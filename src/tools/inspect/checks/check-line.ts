import type { EndpointReading } from '../endpoint-reading.js';
import type { InspectedServer, Inspection } from '../inspection.js';
import { type Protection, protectionOf } from '../protection.js';
import type { InspectedSurface } from '../surfaces.js';
import type { Way } from '../traffic.js';

/** The result of one check of one address. */
export interface CheckLine {
  /** `*` for the control plane as a whole. */
  readonly server: string;
  readonly address: string | null;
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'FAIL' | 'unknown';
  /** The result as a part of a sentence. */
  readonly detail: string;
  /** The next step of the operator, one sentence; given for FAIL and some warnings. */
  readonly mend: string | null;
}

export type Finding = Pick<CheckLine, 'check' | 'verdict' | 'detail'> & { readonly mend?: string };

export const ok = (check: string, detail: string): Finding => ({ check, verdict: 'ok', detail });
export const unknown = (check: string, detail: string): Finding => ({ check, verdict: 'unknown', detail });
export const fail = (check: string, detail: string, mend: string): Finding => ({
  check,
  verdict: 'FAIL',
  detail,
  mend,
});
export const warn = (check: string, detail: string, mend?: string): Finding => ({
  check,
  verdict: 'warn',
  detail,
  ...(mend === undefined ? {} : { mend }),
});

/** Input of the checks, which are pure functions of it. */
export interface CheckInput {
  readonly inspection: Inspection;
  /** Surfaces by server name, only of servers whose checks need them. */
  readonly surfaces: ReadonlyMap<string, InspectedSurface>;
  /** The ways of clients to the API servers. */
  readonly ways: readonly Way[];
  /** The front-proxy certificate, if the operator has its file. */
  readonly frontProxy: { readonly path: string; readonly pem: string } | undefined;
}

/** Returns the address that reroutes for this server: that of its Straddle, else that of the API server. */
export function protectorOf({ readings }: InspectedServer): EndpointReading | undefined {
  return readings.find((reading) => protectionOf(reading).kind !== 'kube-apiserver') ?? readings[0];
}

export interface Protector {
  readonly reading: EndpointReading;
  readonly protection: Protection;
}

export const DAY_MS = 24 * 3_600_000;
/** Remaining lifetime below which a certificate should be renewed. */
export const CERTIFICATE_DAYS_MIN = 30;
