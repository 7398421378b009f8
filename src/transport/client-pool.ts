import type { Client } from 'undici';

/**
 * Connections to one server, one request at a time on each. The one used last is used next, so that a quiet time closes
 * those that a busy one had needed. Taking one costs the same however many are busy; undici's own Pool looks at all of
 * them, twice a request, and thousands of watches make that dearer than the request.
 */
export class ClientPool {
  readonly #make: () => Client;
  readonly #all = new Set<Client>();
  readonly #free: Client[] = [];
  #closing = false;

  constructor(make: () => Client) {
    this.#make = make;
  }

  take(): Client {
    return this.#free.pop() ?? this.#add();
  }

  /** After a whole answer the connection takes the next request; whatever else happened, it is not used again. */
  giveBack(client: Client, answered: boolean): void {
    if (!this.#all.has(client)) return;
    if (answered && !this.#closing) {
      this.#free.push(client);
      return;
    }
    this.#all.delete(client);
    client.close().catch(() => {});
  }

  /** What is under way ends well, the connections close after it. */
  close(): void {
    this.#closing = true;
    for (const client of this.#free.splice(0)) this.giveBack(client, false);
  }

  async destroy(error: Error): Promise<void> {
    this.#closing = true;
    this.#free.length = 0;
    const all = [...this.#all];
    this.#all.clear();
    await Promise.all(all.map((client) => client.destroy(error)));
  }

  #add(): Client {
    const client = this.#make();
    this.#all.add(client);
    // Idle for too long, or closed by the server: nothing is kept of it but what is in use.
    client.on('disconnect', () => {
      const at = this.#free.indexOf(client);
      if (at < 0) return;
      this.#free.splice(at, 1);
      this.giveBack(client, false);
    });
    return client;
  }
}
