import type { Filter } from '../../http/exchange.js';
import { parseRequestInfo, type RequestInfo } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';

/** Characters that another server may interpret differently in a request target. */
const UNPRINTABLE = /[^\x21-\x7e\x80-\xff]/;

/** Bound on cached results, which controllers and kubelets repeat. Cleared when full. */
const REMEMBERED_MAX = 4_096;
const REMEMBERED_CHARS_MAX = 256;

const remembered = new Map<string, RequestInfo>();

/** Parses the request. Throws 400 for one that cannot be sent on exactly as it was parsed. */
export const requestInfoFilter: Filter = {
  name: 'request-info',
  wrap: (next) => (exchange) => {
    const { method, target } = exchange;
    const asked = `${method} ${target}`;
    const known = remembered.get(asked);
    if (known) {
      exchange.info = known;
      return next(exchange);
    }
    if (target.charCodeAt(0) !== 47) {
      throw new StatusError(
        'BadRequest',
        'the request target must be a path (absolute-form and asterisk-form are not served)',
      );
    }
    if (UNPRINTABLE.test(target))
      throw new StatusError('BadRequest', 'the request target holds characters that are not allowed');
    const info = parseRequestInfo(method, target);
    if (!info) throw new StatusError('BadRequest', 'the request path is not properly percent-encoded');
    if (asked.length <= REMEMBERED_CHARS_MAX) {
      if (remembered.size >= REMEMBERED_MAX) remembered.clear();
      remembered.set(asked, info);
    }
    exchange.info = info;
    return next(exchange);
  },
};
