/** What the server said is not HTTP/1.1 as we accept it; its connection must end. */
export class Http1ResponseError extends Error {
  readonly code = 'ERR_HTTP1_RESPONSE';
}
