/** What the listener shows to clients and asks of them. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** CAs whose certificates clients are asked for; who may do what is decided per request, not by the listener. */
  readonly clientCas: readonly string[];
}
