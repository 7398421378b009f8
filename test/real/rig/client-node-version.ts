import { readFileSync } from 'node:fs';

/** The release of @kubernetes/client-node that is installed. */
export function clientNodeVersion(): string {
  const file = new URL('../../../node_modules/@kubernetes/client-node/package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
