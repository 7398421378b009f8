import { chosenServers } from './chosen-servers.js';
import type { Etcd } from './etcd.js';
import type { Endpoint } from './http-client.js';
import type { KubeSettings } from './kube-apiserver.js';
import type { Kubectl } from './kubectl.js';
import type { Pki } from './pki.js';
import { newerSettings, olderSettings, type Skew } from './skew.js';
import type { StraddleFlags } from './straddle.js';

export const SERVER_NAMES = ['a', 'b', 'c'] as const;
export type ServerName = (typeof SERVER_NAMES)[number];
/** Servers that only a larger control plane has. */
export const FURTHER_NAMES = ['d', 'e'] as const;
export type FurtherName = (typeof FURTHER_NAMES)[number];

export const AGGREGATED_V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The wanted state. Processes that differ from it are restarted. */
export interface Layout {
  readonly kube: LayoutOf<KubeSettings>;
  readonly straddle: LayoutOf<StraddleFlags>;
}

type LayoutOf<T> = Readonly<Record<ServerName, T | undefined> & Partial<Record<FurtherName, T>>>;

export function layoutOf(skew: Skew, straddleFlags: StraddleFlags = {}): Layout {
  const { a, b, c } = chosenServers();
  return {
    kube: { a: olderSettings(a, skew), b: newerSettings(b), c: newerSettings(c) },
    straddle: { a: straddleFlags, b: straddleFlags, c: straddleFlags },
  };
}

/** The same with two more servers like C. */
export function layoutOfFive(skew: Skew): Layout {
  const { kube, straddle } = layoutOf(skew);
  const further = newerSettings(chosenServers().c);
  return { kube: { ...kube, d: further, e: further }, straddle: { ...straddle, d: {}, e: {} } };
}

/** The same with kube-apiserver's own mixed version proxy on in all of them. */
export function withNative({ kube, straddle }: Layout): Layout {
  const on = (settings: KubeSettings | undefined) => settings && { ...settings, native: true };
  return { kube: { a: on(kube.a), b: on(kube.b), c: on(kube.c) }, straddle };
}

/** One server, as a scenario asks it. */
export interface PlaneServer {
  readonly name: ServerName;
  /** The API server for itself, that knows no peers. */
  readonly kube: { readonly url: string; readonly admin: Endpoint };
  /** The same server as clients see it, with the chain before it. */
  readonly straddle: { readonly url: string; readonly admin: Endpoint };
}

/** A control plane of three servers, whatever they are made of: what scenarios need that run on more than one kind. */
export interface Plane {
  readonly dir: string;
  readonly pki: Pick<Pki, 'ca'>;
  /** For other programs of a scenario; not always the store of the servers. */
  readonly etcd: Etcd;
  /** Contexts `straddle-a` and `raw-a`, and so on. */
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  readonly servers: Readonly<Record<ServerName, PlaneServer>>;
  readonly all: readonly PlaneServer[];
  readonly a: PlaneServer;
  readonly b: PlaneServer;
  readonly c: PlaneServer;
  /** The chain runs in the API server's own process: while that restarts, nobody answers at its address. */
  readonly isOneProcess: boolean;
  arrange(layout: Layout): Promise<void>;
}
