import { hopByHopNames, type RawHeaders } from '../headers.js';

/**
 * Returns the headers of a server's response without hop-by-hop fields; the others are unchanged.
 */
export function replyHeaders(headers: readonly string[]): RawHeaders {
  const dropped = hopByHopNames(headers);
  let kept: string[] | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    // `Trailer` announces fields that are forwarded.
    const drop = dropped.has(name) && name !== 'trailer';
    if (drop && !kept) kept = headers.slice(0, i);
    else if (!drop && kept) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept ?? headers;
}
