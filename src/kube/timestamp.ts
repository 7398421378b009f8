/** Formats a time as RFC 3339 in UTC with whole seconds, as in Kubernetes. */
export function timestamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
