/** `metav1.Status`, the answer for everything that went wrong. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Record<string, never>;
  readonly status: 'Failure';
  readonly message: string;
  /** Absent where there is none: an error that a kube-apiserver answers as it came, with code 500. */
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[];
}

/** The reasons Straddle itself gives, with the code that Kubernetes ties to each. */
export const STATUS_CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  '': 500,
} as const;

export type StatusReason = keyof typeof STATUS_CODES;

export function status(reason: StatusReason, message: string, details?: StatusDetails): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details ? { details } : {}),
    code: STATUS_CODES[reason],
  };
}
