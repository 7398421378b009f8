import type { StatusReason } from '../../kube/status.js';

/** A patch that is refused, with the reason and message of kube-apiserver's answer. */
export class PatchError extends Error {
  constructor(
    readonly reason: Extract<StatusReason, 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge' | 'InternalError'>,
    message: string,
    /** What exactly did not work. kube-apiserver keeps it to itself in a 422; logs may tell. */
    readonly detail = '',
  ) {
    super(message);
    this.name = 'PatchError';
  }

  /** A patch that is well formed but does not apply: all of these read the same to a client. */
  static doesNotApply(detail: string): PatchError {
    return new PatchError('Invalid', 'the server rejected our request due to an error in our request', detail);
  }
}
