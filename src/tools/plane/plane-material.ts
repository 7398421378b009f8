import type { MadePki } from '../../compose/pki.js';
import type { ProxyTls } from '../../http/tls/proxy-tls.js';
import type { Member } from './member.js';

/** The parts of a control plane before its door is opened, of embedded or of real API servers. */
export interface PlaneMaterial {
  /** In the order of their names and of a roll. Not started yet. */
  readonly members: readonly Member[];
  /** Certificates of the front door. */
  readonly tls: ProxyTls;
  readonly pki: MadePki;
  readonly frontProxyNames: readonly string[];
  /** Prepares the servers; called before the members start. */
  prepare(): Promise<void>;
}
