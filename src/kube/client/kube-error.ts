import { parseRequestInfo } from '../request-info.js';

/** An API server's refusal of one of our own requests. */
export class KubeError extends Error {
  readonly code: number;
  /** The Status' reason, or empty where the answer was none. */
  readonly reason: string;
  /** `list leases.coordination.k8s.io in namespace kube-system`: what was asked, in the words of a right to grant. */
  readonly asked: string;

  constructor(request: { method: string; target: string }, code: number, reason: string, message: string) {
    const asked = describeRequest(request.method, request.target);
    super(`${asked}: ${code}${reason === '' ? '' : ` ${reason}`}${message === '' ? '' : `: ${message}`}`);
    this.name = 'KubeError';
    this.code = code;
    this.reason = reason;
    this.asked = asked;
  }

  /** The server understood and said no; trying again soon will not help. */
  get refused(): boolean {
    return this.code === 401 || this.code === 403;
  }
}

/** One line that says what is missing and what to do about it. */
export function explainKubeError(error: unknown): string {
  if (error instanceof KubeError && error.code === 403) {
    return `403: missing right to ${error.asked}; grant it with the manifest of "straddle rbac" (${error.message})`;
  }
  if (error instanceof KubeError && error.code === 401) {
    return `401: the API server does not know who we are; check the front-proxy certificate or the kubeconfig (${error.message})`;
  }
  return error instanceof Error ? error.message : String(error);
}

function describeRequest(method: string, target: string): string {
  const info = parseRequestInfo(method, target);
  if (!info?.isResource) return `${method} ${target}`;
  const resource = info.group === '' ? info.resource : `${info.resource}.${info.group}`;
  return `${info.verb} ${resource}${info.namespace === '' ? '' : ` in namespace ${info.namespace}`}`;
}
