import { rawQuery } from '../../base/target.js';
import type { Exchange } from '../../http/exchange.js';
import type { RequestInfo } from '../../kube/request-info.js';
import type { ReadStatus } from '../../kube/status-decoding.js';

/** A refusal of a query parameter that servers of a newer version may accept. */
interface OptionRefusal {
  /** The query parameter; only its own refusal is read as one. */
  readonly option: string;
  readonly code: 400 | 422;
  /** Compared with the whole message, because other errors repeat text of the client. */
  readonly message: RegExp;
}

/**
 * All refusals of kube-apiserver that depend on its version. Names of query parameters are not among them: those that it does
 * not know are ignored. Unknown field labels are refused with 400, in one of four forms by the kind of the objects; unknown
 * values, and options of a feature that is still off, with 422, but for those of tables with 400.
 */
const OPTION_REFUSALS: readonly OptionRefusal[] = [
  { option: 'fieldSelector', code: 400, message: /^"(?:[^"\\]|\\.)*" is not a known field selector: only "/ },
  { option: 'fieldSelector', code: 400, message: /^field label not supported(?: for [^:]+)?: / },
  { option: 'fieldSelector', code: 400, message: /^field label "(?:[^"\\]|\\.)*" not supported for \S+$/ },
  {
    option: 'includeObject',
    code: 400,
    message: /^Unable to convert to Table as requested: includeObject: Invalid value: "/,
  },
  {
    option: 'resourceVersionMatch',
    code: 422,
    message: /^ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Unsupported value: "/,
  },
  {
    option: 'sendInitialEvents',
    code: 422,
    message:
      /^ListOptions\.meta\.k8s\.io "" is invalid: sendInitialEvents: Forbidden: \S+ is forbidden for watch unless the WatchList feature gate is enabled$/,
  },
  {
    option: 'stream',
    code: 422,
    message: /^PodLogOptions "[^"]*" is invalid: stream: Forbidden: may not be specified$/,
  },
];

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const OPTIONS: readonly string[] = [...new Set(OPTION_REFUSALS.map(({ option }) => option))];

/** Returns whether a request is a read with a query parameter that a server may refuse because of its version. */
export function hasVersionedOption(exchange: Exchange): boolean {
  return isRead(exchange, exchange.info) && OPTIONS.some((option) => hasOption(exchange, option));
}

/** Returns whether a server refused a read for a field label or an option that it does not know. */
export function isUnknownOption(exchange: Exchange, { code, reason, message }: ReadStatus): boolean {
  if (reason !== (code === 400 ? 'BadRequest' : 'Invalid')) return false;
  return OPTION_REFUSALS.some(
    (each) => each.code === code && each.message.test(message) && hasOption(exchange, each.option),
  );
}

function isRead({ method, upgrade }: Exchange, { isResource, verb }: RequestInfo): boolean {
  return method === 'GET' && !upgrade && isResource && READ_VERBS.has(verb);
}

function hasOption({ target }: Exchange, option: string): boolean {
  const query = rawQuery(target);
  // Fast path; a percent-encoded name takes the slow one.
  if (!query.includes(option) && !query.includes('%')) return false;
  return new URLSearchParams(query).has(option);
}
