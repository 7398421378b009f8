/** A load balancer before the servers of a control plane. */
export interface Door {
  /** Listens, and resolves when every server has been asked how it is. */
  start(): Promise<{ readonly port: number }>;
  /** Asks every server now; resolves when what they say counts. */
  look(): Promise<void>;
  close(graceMs: number): Promise<void>;
}
