/** Returns whether a field identifies the caller to a server: credentials, impersonation. */
export function identifiesCaller(lowerName: string): boolean {
  return lowerName === 'authorization' || lowerName === 'cookie' || lowerName.startsWith('impersonate-');
}

/** Returns whether a request on behalf of a caller keeps a field of the caller's request. */
export function speaksForCaller(lowerName: string): boolean {
  return identifiesCaller(lowerName) || lowerName === 'user-agent';
}
