import { ApiConnection } from './api-connection.js';
import type { RehearsalPlane } from './rehearsal-plane.js';

/** Connections straight to each server: for scenes and inspections, never for measurements. */
export class Straight {
  readonly #plane: RehearsalPlane;
  readonly #connections = new Map<string, ApiConnection>();
  readonly #serving = new Set<string>();

  constructor(plane: RehearsalPlane) {
    this.#plane = plane;
  }

  to(server: string): ApiConnection {
    const { access } = this.#plane.servers.find(({ name }) => name === server)!;
    let connection = this.#connections.get(access.url);
    if (!connection) {
      connection = new ApiConnection(access);
      this.#connections.set(access.url, connection);
    }
    return connection;
  }

  /** Stores whether a server is ready in a version with the skewed resource. */
  mark(server: string, isServing: boolean): void {
    if (isServing) this.#serving.add(server);
    else this.#serving.delete(server);
  }

  /** Returns a server that serves the skewed resource now; undefined if there is none. */
  serving(): ApiConnection | undefined {
    const [first] = this.#serving;
    return first === undefined ? undefined : this.to(first);
  }

  close(): void {
    for (const each of this.#connections.values()) each.close();
  }
}
