import { readFileSync } from 'node:fs';

/** Returns the version of this package. */
export function straddleVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
