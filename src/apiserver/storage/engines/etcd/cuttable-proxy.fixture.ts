import { connect, createServer, type Server, type Socket } from 'node:net';

/** A road to a server that a test can cut, or on which it can lose the answers. */
export class CuttableProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #losesAnswers = false;
  port = 0;

  constructor(targetPort: number) {
    this.#server = createServer((client) => {
      const target = connect(targetPort, '127.0.0.1');
      for (const socket of [client, target]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          target.destroy();
        });
      }
      client.pipe(target);
      target.on('data', (chunk) => {
        if (!this.#losesAnswers) client.write(chunk);
      });
    });
  }

  async open(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.port = (this.#server.address() as { port: number }).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  loseAnswers(lose = true): void {
    this.#losesAnswers = lose;
  }

  /** Breaks every connection; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Breaks every connection and takes no more. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }
}
