import type { Filter } from '../core/exchange.js';
import { parseRequestInfo } from '../core/request-info.js';
import { StatusError } from '../core/status-error.js';

/** Anything but visible characters in a request target would be read differently by the next server. */
const UNPRINTABLE = /[^\x21-\x7e\x80-\xff]/;

/** Classifies the request. What cannot be sent on exactly as it was understood here is refused. */
export const requestInfoFilter: Filter = {
  name: 'request-info',
  wrap: (next) => (exchange) => {
    const { target } = exchange;
    if (target.charCodeAt(0) !== 47) {
      throw new StatusError(
        'BadRequest',
        'the request target must be a path (absolute-form and asterisk-form are not served)',
      );
    }
    if (UNPRINTABLE.test(target))
      throw new StatusError('BadRequest', 'the request target holds characters that are not allowed');
    const info = parseRequestInfo(exchange.method, target);
    if (!info) throw new StatusError('BadRequest', 'the request path is not properly percent-encoded');
    exchange.info = info;
    return next(exchange);
  },
};
