/**
 * Returns whether a header field identifies the caller to a server (credentials, impersonation), by
 * lower-case name.
 */
export function identifiesCaller(lowerName: string): boolean {
  return lowerName === 'authorization' || lowerName === 'cookie' || lowerName.startsWith('impersonate-');
}

/**
 * Returns whether a request on behalf of a caller keeps a field: those that identify the caller,
 * and the user agent.
 */
export function speaksForCaller(lowerName: string): boolean {
  return identifiesCaller(lowerName) || lowerName === 'user-agent';
}
