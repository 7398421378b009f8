/** Thrown for a response that is not valid HTTP/1.1; its connection must be closed. */
export class Http1ResponseError extends Error {
  readonly code = 'ERR_HTTP1_RESPONSE';
}
