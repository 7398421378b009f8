import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { ToHead, ToWorker } from './worker-messages.js';

/** One end of the line between the head and a worker. Messages arrive in the order they were sent. */
export interface Channel<Out, In> {
  /** `sent` is called when the message, and the socket with it, has left this process or never will. */
  send(message: Out, socket?: Socket, sent?: () => void): void;
  onMessage(listener: (message: In, socket: Socket | undefined) => void): void;
}

type Endpoint = Pick<ChildProcess, 'send' | 'on' | 'connected'> | NodeJS.Process;

function channelOf<Out extends object, In>(endpoint: Endpoint): Channel<Out, In> {
  return {
    send(message, socket, sent) {
      if (!endpoint.connected) {
        socket?.destroy();
        sent?.();
        return;
      }
      // The other side may go at any moment, which its own end tells; a message that is lost then is no news.
      endpoint.send!(message, socket, {}, (error) => {
        if (error) socket?.destroy();
        sent?.();
      });
    },
    onMessage(listener) {
      endpoint.on('message', (message: unknown, handle: unknown) => {
        listener(message as In, handle instanceof Socket ? handle : undefined);
      });
    },
  };
}

export function channelToWorker(child: ChildProcess): Channel<ToWorker, ToHead> {
  return channelOf(child);
}

/** Undefined in a process that nobody started as a worker. */
export function channelToHead(): Channel<ToHead, ToWorker> | undefined {
  return process.send === undefined ? undefined : channelOf(process);
}
