import { headerValue, type RawHeaders } from '../../http/headers.js';

const MARK = 'X-Straddle-Server';

/** Fields by which a Straddle's own health pages differ from those of a kube-apiserver. */
export const STRADDLE_MARK: RawHeaders = [MARK, 'true'];

/** Whether a health page is a Straddle's. To be asked only of answers over verified TLS. */
export function isStraddlePage(headers: RawHeaders): boolean {
  return headerValue(headers, MARK.toLowerCase()) === 'true';
}
