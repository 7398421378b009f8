import type { Readable } from 'node:stream';
import { Exchange } from '../../http/exchange.js';
import type { Identity } from '../../http/identity.js';
import { parseRequestInfo } from '../../kube/request-info.js';

/** An exchange as after the request-info and identity filters. */
export function exchangeFor(
  target: string,
  options: {
    method?: string;
    headers?: readonly string[];
    identity?: Identity;
    upgrade?: boolean;
    body?: Readable;
  } = {},
): Exchange {
  const exchange = new Exchange(
    {
      method: options.method ?? 'GET',
      target,
      headers: options.headers ?? [],
      body: options.body ?? null,
      upgrade: options.upgrade ?? false,
      connection: { remoteAddress: '127.0.0.1', certificateChain: [] },
    },
    0,
  );
  exchange.info = parseRequestInfo(exchange.method, target)!;
  if (options.identity) exchange.identity = options.identity;
  return exchange;
}

export function user(name: string, ...groups: string[]): Identity {
  return { kind: 'established', user: name, uid: '', groups, extra: new Map() };
}

export function bearer(token: string): string[] {
  return ['Authorization', `Bearer ${token}`];
}
