import { headerValue, type RawHeaders } from '../../http/headers.js';

const MARK = 'X-Straddle-Server';

/** Header fields that distinguish a Straddle's health pages from those of a kube-apiserver. */
export const STRADDLE_MARK: RawHeaders = [MARK, 'true'];

/** Returns whether a health page is from a Straddle. Valid only for replies over verified TLS. */
export function isStraddlePage(headers: RawHeaders): boolean {
  return headerValue(headers, MARK.toLowerCase()) === 'true';
}

/** The same for a reply to the client of Node.js. */
export function isStraddleReply(headers: Readonly<Record<string, unknown>>): boolean {
  return headers[MARK.toLowerCase()] === 'true';
}
