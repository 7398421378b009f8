/** The status codes of gRPC that decide something here. */
export const GRPC = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unavailable: 14,
  unauthenticated: 16,
  unknown: 2,
} as const;

/** A call that did not succeed: the server's own word, or the transport's. */
export class GrpcError extends Error {
  readonly status: number;
  /** False where the server certainly never worked on the request. */
  readonly maybeProcessed: boolean;

  constructor(status: number, message: string, maybeProcessed: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'GrpcError';
    this.status = status;
    this.maybeProcessed = maybeProcessed;
  }
}
