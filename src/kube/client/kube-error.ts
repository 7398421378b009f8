import { parseRequestInfo } from '../request-info.js';

/** The API server replied to a request of Straddle with an error status or a malformed body. */
export class KubeError extends Error {
  readonly code: number;
  /** Reason of the Status; empty if the reply has none. */
  readonly reason: string;
  /** The right to grant: `list leases.coordination.k8s.io in namespace kube-system`. */
  readonly asked: string;

  constructor(request: { method: string; target: string }, code: number, reason: string, message: string) {
    const asked = describeRequest(request.method, request.target);
    super(`${asked}: ${code}${reason === '' ? '' : ` ${reason}`}${message === '' ? '' : `: ${message}`}`);
    this.name = 'KubeError';
    this.code = code;
    this.reason = reason;
    this.asked = asked;
  }

  /** True for 401 and 403, which a retry does not change. */
  get refused(): boolean {
    return this.code === 401 || this.code === 403;
  }
}

/** Returns one line with the problem and the next step. */
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
