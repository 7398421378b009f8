import type { MadePki } from '../../compose/pki.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import type { Member } from './member.js';

/** What a control plane is made of, before its door is opened; of Straddle's own servers or of real ones. */
export interface PlaneMaterial {
  /** In the order in which they are named and rolled. Not started yet. */
  readonly members: readonly Member[];
  /** The front door's. */
  readonly tls: ProxyTls;
  readonly pki: MadePki;
  readonly frontProxyNames: readonly string[];
  /** What must be so before the members can start. */
  prepare(): Promise<void>;
}
