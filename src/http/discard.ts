import type { Reply } from './exchange.js';

/** Frees the connection of a reply that is not read: cancels its body and closes an upgraded connection. */
export function discard({ body, upgraded }: Reply, error: Error = new Error('the reply is not used')): void {
  if (body !== null && !(body instanceof Uint8Array)) body.cancel(error);
  upgraded?.socket.destroy();
}

/**
 * Reads a reply to its end without keeping it, so that its connection can carry the next request. Beyond `bytesMax` the
 * body is cancelled: a new connection is cheaper then. Never rejects.
 */
export function drain({ body }: Reply, bytesMax: number): Promise<void> {
  if (body === null || body instanceof Uint8Array) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    body.attach({
      write(chunk) {
        bytes += chunk.byteLength;
        if (bytes <= bytesMax) return true;
        body.cancel(new Error(`more than ${bytesMax} bytes of a reply that is not used`));
        resolve();
        return false;
      },
      end: () => resolve(),
      fail: () => resolve(),
    });
  });
}
