import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { headerValues } from '../headers.js';

/** Answers a request that Node's parser refused with 431, 408 or 400, and closes the connection. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (isHeadOverflow(error)) {
    endWithRefusal(socket, '431 Request Header Fields Too Large', 'request headers are too large');
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    endWithRefusal(socket, '408 Request Timeout', 'timeout: request headers were not complete in time');
  } else endWithRefusal(socket, '400 Bad Request', 'malformed request');
}

/** Returns whether a request was refused because its head is larger than the bound. */
export function isHeadOverflow({ code }: NodeJS.ErrnoException): boolean {
  return code === 'HPE_HEADER_OVERFLOW';
}

/**
 * Returns why a request that Node's parser accepts is ambiguous and must not be forwarded, else
 * undefined.
 */
export function ambiguityOf({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const hosts = headerValues(rawHeaders, 'host').length;
  // RFC 9112, 3.2: the next server might use the other Host.
  if (hosts > 1) return 'the request has more than one Host field';
  if (hosts === 0 && httpVersion === '1.1') return 'the request has no Host field';
  // RFC 9112, 6.1: the parser decodes only the last coding; any other would be lost when the body
  // is forwarded.
  const codings = headerValues(rawHeaders, 'transfer-encoding');
  if (codings.length > 1 || (codings.length === 1 && codings[0]!.trim().toLowerCase() !== 'chunked')) {
    return 'unsupported Transfer-Encoding: only chunked is supported';
  }
  return undefined;
}

/**
 * Returns why an upgrade request is refused: the end of its body would be unknown after the
 * upgrade.
 */
export function upgradeFaultOf({ rawHeaders }: IncomingMessage): string | undefined {
  const hasLength = headerValues(rawHeaders, 'content-length').some((value) => value.trim() !== '0');
  const hasCoding = headerValues(rawHeaders, 'transfer-encoding').length > 0;
  return hasLength || hasCoding ? 'an upgrade request cannot have a body' : undefined;
}

export function refuseAsBad(response: ServerResponse, message: string): void {
  const body = statusText(400, message);
  response.writeHead(400, { ...JSON_FIELDS, 'Content-Length': Buffer.byteLength(body), Connection: 'close' }).end(body);
}

/** Writes an error reply to a connection that Node's parser has given up, and closes it. */
export function endWithRefusal(socket: Duplex, codeAndReason: string, message: string): void {
  const body = statusText(Number(codeAndReason.slice(0, 3)), message);
  const head = `HTTP/1.1 ${codeAndReason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(`${head}Connection: close\r\n\r\n${body}`, () => socket.destroy());
}

const JSON_FIELDS = { 'Content-Type': 'application/json' };

function statusText(code: number, message: string): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'BadRequest',
    code,
  });
}
