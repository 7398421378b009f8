import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { StatusError } from '../../kube/status-error.js';
import { AttemptError, attemptError } from '../attempt-error.js';
import { BodyStream } from '../body-stream.js';
import type { Reply } from '../exchange.js';
import { headerValue, type RawHeaders } from '../headers.js';
import type { OutgoingRequest } from '../outgoing.js';
import type { Dialler } from './dialler.js';
import { refusal } from './http1-request-head.js';
import { replyHeaders } from './reply-headers.js';

/**
 * Sends an upgrade request (WebSocket, SPDY; also `POST`) on a connection of its own. Returns the
 * upgraded connection, or any other response of the server (403, 404, …) as an ordinary reply.
 */
export async function openUpgrade(address: string, dialler: Dialler, outgoing: OutgoingRequest): Promise<Reply> {
  if (announcesBody(outgoing.headers)) {
    // The server could not distinguish the body from the bytes of the new protocol.
    throw new StatusError('BadRequest', 'an upgrade request cannot have a body');
  }
  const socket = await dialWhileWanted(address, dialler, outgoing);
  return new Promise<Reply>((resolve, reject) => {
    let stopListening = () => {};
    const fail = (error: unknown) => {
      stopListening();
      socket.destroy();
      reject(attemptError(address, error, true));
    };
    const request = requestOn(socket, outgoing);
    request.on('error', fail);
    stopListening = outgoing.onAbort(() => fail(new AttemptError('maybe', 'aborted', 'client disconnected')));
    if (outgoing.headTimeoutMs > 0) {
      request.setTimeout(outgoing.headTimeoutMs, () =>
        fail(new AttemptError('maybe', 'timeout', `${address}: timeout: no reply within the request timeout`)),
      );
    }
    request.on('upgrade', (message, upgraded, head) => {
      stopListening();
      socket.setTimeout(0);
      resolve(switchedReply(message, upgraded, head));
    });
    request.on('response', (message) => {
      socket.setTimeout(0);
      message.once('close', stopListening);
      resolve(ordinaryReply(address, message));
    });
    request.end();
  });
}

/** Throws a StatusError for a request that cannot be sent, and closes the connection. */
function requestOn(socket: TLSSocket, { method, target, headers }: OutgoingRequest): ClientRequest {
  try {
    return httpRequest({
      method,
      path: target,
      // Node writes a flat list of names and values unchanged and adds no fields.
      headers: withLength(method, headers) as unknown as Record<string, string>,
      setHost: false,
      createConnection: () => socket,
    });
  } catch (error) {
    socket.destroy();
    throw refusal((error as Error).message);
  }
}

/** Adds `Content-Length: 0`: without it Node would send a POST chunked, with a last chunk. */
function withLength(method: string, headers: RawHeaders): RawHeaders {
  if (method === 'GET' || method === 'HEAD' || headerValue(headers, 'content-length') !== undefined) return headers;
  return [...headers, 'Content-Length', '0'];
}

/** Dials; rejects at once and cancels the dial when the caller aborts. */
function dialWhileWanted(address: string, dialler: Dialler, outgoing: OutgoingRequest): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let stopListening = () => {};
    const dialling = dialler.dial({
      opened: (socket) => {
        stopListening();
        resolve(socket);
      },
      failed: (error) => {
        stopListening();
        reject(attemptError(address, error, false));
      },
    });
    stopListening = outgoing.onAbort(() => {
      dialling.cancel();
      reject(new AttemptError('unsent', 'aborted', 'client disconnected'));
    });
  });
}

function announcesBody(headers: RawHeaders): boolean {
  const length = headerValue(headers, 'content-length');
  return (length !== undefined && Number(length) !== 0) || headerValue(headers, 'transfer-encoding') !== undefined;
}

function switchedReply(message: IncomingMessage, socket: Duplex, head: Buffer): Reply {
  // All headers of the 101 response are for the client, `Connection` and `Upgrade` included.
  return { status: message.statusCode ?? 101, headers: message.rawHeaders, body: null, upgraded: { socket, head } };
}

function ordinaryReply(address: string, message: IncomingMessage): Reply {
  const body = new BodyStream({
    pause: () => message.pause(),
    resume: () => message.resume(),
    cancel: () => message.destroy(),
  });
  message.on('data', (chunk: Buffer) => body.push(chunk));
  message.on('end', () => body.end());
  message.on('error', (error) => body.fail(attemptError(address, error, true)));
  message.on('close', () =>
    body.fail(
      attemptError(address, Object.assign(new Error('unexpected EOF'), { code: 'ERR_CONNECTION_ENDED' }), true),
    ),
  );
  return { status: message.statusCode ?? 502, headers: replyHeaders(message.rawHeaders), body };
}
