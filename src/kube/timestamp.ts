/** RFC 3339 with whole seconds, in UTC, as Kubernetes writes times. */
export function timestamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
