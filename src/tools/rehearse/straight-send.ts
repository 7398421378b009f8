import { ApiConnection } from './api-connection.js';
import type { RehearsalPlane } from './rehearsal-plane.js';

/** Connections to each server itself, past the front door: for setting scenes and for proof, never for measuring. */
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

  /** This server is ready in a version with the skewed resource, or it is no more. */
  mark(server: string, isServing: boolean): void {
    if (isServing) this.#serving.add(server);
    else this.#serving.delete(server);
  }

  /** A server that serves the skewed resource by itself and is not being replaced; undefined where there is none now. */
  serving(): ApiConnection | undefined {
    const [first] = this.#serving;
    return first === undefined ? undefined : this.to(first);
  }

  close(): void {
    for (const each of this.#connections.values()) each.close();
  }
}
