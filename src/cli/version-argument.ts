import { InvalidArgumentError } from 'commander';
import { shippedVersions } from '../apiserver/surfaces/shipped-versions.js';

/** Parses `1.36`, `v1.36` and `v1.36.4` as `1.36`. Throws InvalidArgumentError with what to give instead. */
export function minorVersion(text: string): string {
  const minor = minorOf(text);
  if (minor !== undefined) return minor;
  throw new InvalidArgumentError(
    text.endsWith('.json')
      ? `Give a minor version, such as ${newest()}: a captured surface is for \`straddle apiserver --surface-file\` and \`straddle diff\`.`
      : `Give a minor version, such as ${newest()}.`,
  );
}

/** Returns undefined for text that is no version, or not one of a minor release. */
export function minorOf(text: string): string | undefined {
  return /^v?(\d{1,4}\.\d{1,4})(\.\d{1,4})?$/.exec(text)?.[1];
}

function newest(): string {
  return shippedVersions().at(-1)!;
}
