/** What a connection to a server is made with. Without `cert` the front-proxy lane is the plain one. */
export interface ConnectionTls {
  readonly ca: string | undefined;
  readonly servername: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The server's certificate is not checked: only where somebody who may has said so (an APIService). */
  readonly insecureSkipVerify?: boolean;
}

/** What the listener shows to clients and asks of them. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** CAs whose certificates clients are asked for; who may do what is decided per request, not by the listener. */
  readonly clientCas: readonly string[];
}
