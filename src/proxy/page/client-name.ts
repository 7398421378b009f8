import { detachedText } from '../../base/detached-text.js';
import { printableLine } from '../../base/printable.js';

/** Longer User-Agent fields are cut before anything is stored. */
export const USER_AGENT_CHARS_MAX = 128;

export interface ClientName {
  readonly name: string;
  readonly version: string;
}

const NAME_CHARS_MAX = 64;
const VERSION_CHARS_MAX = 32;

/** Returns program and version of a User-Agent field: `kubectl/v1.36.1 (linux/amd64) kubernetes/abcdef`. */
export function clientName(userAgent: string): ClientName {
  const [first = ''] = shownUserAgent(userAgent).split(' ');
  const slash = first.indexOf('/');
  const name = slash < 0 ? first : first.slice(0, slash);
  const version = slash < 0 ? '' : first.slice(slash + 1);
  return { name: name.slice(0, NAME_CHARS_MAX) || 'unknown', version: version.slice(0, VERSION_CHARS_MAX) };
}

/** Returns a User-Agent field as it may be shown: one line, cut. */
export function shownUserAgent(userAgent: string): string {
  return detachedText(printableLine(userAgent.slice(0, USER_AGENT_CHARS_MAX)));
}
