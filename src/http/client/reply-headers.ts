import { hopByHopNames, type RawHeaders } from '../headers.js';

/** A server's answer headers for the next hop: names and values as they came, what concerns one connection removed. */
export function replyHeaders(headers: readonly string[]): RawHeaders {
  const dropped = hopByHopNames(headers);
  let kept: string[] | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    // `Trailer` announces fields that travel on, and an authentication challenge of ours is never sent by a server.
    const drop = dropped.has(name) && name !== 'trailer';
    if (drop && !kept) kept = headers.slice(0, i);
    else if (!drop && kept) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept ?? headers;
}
