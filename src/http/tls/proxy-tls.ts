import type { X509Certificate } from 'node:crypto';
import type { ConnectionTls, ServerTls } from './connection-tls.js';
import {
  type CaBundle,
  type FileWatchOptions,
  type KeyPair,
  type NamedFile,
  type Watched,
  watchCaBundle,
  watchKeyPair,
} from './tls-files.js';

/** Files of the certificates. */
export interface ProxyTlsFiles {
  readonly serving: { readonly certFile: string; readonly keyFile: string };
  readonly frontProxy: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly clientCaFile: string | undefined;
  readonly requestHeaderCaFile: string | undefined;
  readonly peerCaFile: string | undefined;
  readonly peerServerName: string;
  /** Undefined for the embedded API server. */
  readonly upstreamCaFile: string | undefined;
  readonly upstreamServerName: string;
}

const NO_CERTIFICATES: readonly X509Certificate[] = [];

/** All certificates of a server, as they are in its files now. */
export class ProxyTls {
  readonly #names: { readonly peer: string; readonly upstream: string };

  private constructor(
    files: ProxyTlsFiles,
    readonly servingPair: Watched<KeyPair>,
    readonly frontProxy: Watched<KeyPair> | undefined,
    readonly clientCas: Watched<CaBundle> | undefined,
    readonly requestHeaderCas: Watched<CaBundle> | undefined,
    readonly peerCas: Watched<CaBundle> | undefined,
    readonly upstreamCas: Watched<CaBundle> | undefined,
  ) {
    this.#names = { peer: files.peerServerName, upstream: files.upstreamServerName };
  }

  /** Rejects with TlsFileError, watching nothing, if a file can't be used. */
  static async load(files: ProxyTlsFiles, options: FileWatchOptions): Promise<ProxyTls> {
    const opened: Watched<unknown>[] = [];
    const keep = async <T>(watched: Promise<Watched<T>>): Promise<Watched<T>> => {
      const value = await watched;
      opened.push(value);
      return value;
    };
    const pair = (from: { certFile: string; keyFile: string }, certFlag: string, keyFlag: string) =>
      keep(watchKeyPair({ cert: named(from.certFile, certFlag), key: named(from.keyFile, keyFlag) }, options));
    const bundle = async (path: string | undefined, flag: string) =>
      path === undefined ? undefined : keep(watchCaBundle(named(path, flag), options));
    try {
      return new ProxyTls(
        files,
        await pair(files.serving, '--tls-cert-file', '--tls-private-key-file'),
        files.frontProxy && (await pair(files.frontProxy, '--proxy-client-cert-file', '--proxy-client-key-file')),
        await bundle(files.clientCaFile, '--client-ca-file'),
        await bundle(files.requestHeaderCaFile, '--requestheader-client-ca-file'),
        await bundle(files.peerCaFile, '--peer-ca-file'),
        await bundle(files.upstreamCaFile, '--upstream-ca-file'),
      );
    } catch (error) {
      for (const each of opened) each.close();
      throw error;
    }
  }

  clientCa(): readonly X509Certificate[] {
    return this.clientCas?.current.certificates ?? NO_CERTIFICATES;
  }

  requestHeaderCa(): readonly X509Certificate[] {
    return this.requestHeaderCas?.current.certificates ?? NO_CERTIFICATES;
  }

  serving(): ServerTls {
    const { cert, key } = this.servingPair.current;
    const clientCas = [this.clientCas, this.requestHeaderCas].flatMap((bundle) => (bundle ? [bundle.current.pem] : []));
    return { cert, key, clientCas };
  }

  peerTls(): ConnectionTls {
    return this.#connectionTls(this.peerCas, this.#names.peer);
  }

  upstreamTls(): ConnectionTls {
    return this.#connectionTls(this.upstreamCas, this.#names.upstream);
  }

  onServingChange(listener: () => void): void {
    for (const each of [this.servingPair, this.clientCas, this.requestHeaderCas]) each?.onChange(listener);
  }

  onOutgoingChange(listener: () => void): void {
    for (const each of [this.frontProxy, this.peerCas, this.upstreamCas]) each?.onChange(listener);
  }

  close(): void {
    const all = [
      this.servingPair,
      this.frontProxy,
      this.clientCas,
      this.requestHeaderCas,
      this.peerCas,
      this.upstreamCas,
    ];
    for (const each of all) each?.close();
  }

  #connectionTls(cas: Watched<CaBundle> | undefined, servername: string): ConnectionTls {
    const pair = this.frontProxy?.current;
    return { ca: cas?.current.pem, servername, cert: pair?.cert, key: pair?.key };
  }
}

function named(path: string, flag: string): NamedFile {
  return { path, flag };
}
