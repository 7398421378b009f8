import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { headerValues } from '../headers.js';

/** Answers what Node's parser refused, as far as the protocol can still be spoken. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    endWithRefusal(socket, '431 Request Header Fields Too Large', 'request headers are too large');
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    endWithRefusal(socket, '408 Request Timeout', 'request headers took too long');
  } else endWithRefusal(socket, '400 Bad Request', 'malformed request');
}

/** Why a request cannot be carried exactly, although Node's parser takes it; undefined for all others. */
export function ambiguityOf({ rawHeaders }: IncomingMessage): string | undefined {
  // RFC 9112, 3.2: a server that looked at another one than this one did would serve another host.
  if (headerValues(rawHeaders, 'host').length > 1) return 'the request has more than one Host field';
  // RFC 9112, 6.1: the parser removes the last coding, and any other would get lost on the way.
  const codings = headerValues(rawHeaders, 'transfer-encoding');
  if (codings.length > 1 || (codings.length === 1 && codings[0]!.trim().toLowerCase() !== 'chunked')) {
    return 'the only Transfer-Encoding that is supported is chunked';
  }
  return undefined;
}

/** Why a request cannot switch protocols: after a switch nobody could tell where its body ends. */
export function upgradeFaultOf({ rawHeaders }: IncomingMessage): string | undefined {
  const hasLength = headerValues(rawHeaders, 'content-length').some((value) => value.trim() !== '0');
  const hasCoding = headerValues(rawHeaders, 'transfer-encoding').length > 0;
  return hasLength || hasCoding ? 'a request that asks to switch protocols cannot have a body' : undefined;
}

export function refuseAsBad(response: ServerResponse, message: string): void {
  const body = statusText(400, message);
  response.writeHead(400, { ...JSON_FIELDS, 'Content-Length': Buffer.byteLength(body), Connection: 'close' }).end(body);
}

/** Writes a refusal to a connection whose requests Node no longer reads, and closes it. */
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
