import { type KubeVersion, minorNumber, pinnedRelease, pinnedVersions } from './pinned-versions.js';

/** The releases of the three kube-apiservers. */
export interface ServerVersions {
  readonly a: KubeVersion;
  readonly b: KubeVersion;
  readonly c: KubeVersion;
}

/** What runs where nobody asks for other versions. */
export const DEFAULT_SERVERS = '1.36,1.37,1.37';

/** A value of `--servers` that cannot be run; the message lists what can. */
export class ServersError extends Error {}

let chosen: ServerVersions | undefined;

/** Reads `1.36,1.37,1.37` or `1.36.4,1.37.1,1.37.1`: a minor version stands for the release of it that is pinned. */
export function parseServers(text: string): ServerVersions {
  const wanted = text.split(',').map((each) => each.trim());
  const [a, b, c] = wanted.map(pinnedRelease);
  if (wanted.length === 3 && a && b && c) return { a, b, c };
  const known = [...pinnedVersions()].map(([minor, release]) => `${minor} (${release.slice(1)})`).join(', ');
  throw new ServersError(
    `--servers=${text} cannot be run: give three versions for servers A, B and C, as in ${DEFAULT_SERVERS}, of ${known}.`,
  );
}

/** The newest release among them. */
export function newestOf({ a, b, c }: ServerVersions): KubeVersion {
  return [a, b, c].reduce((newest, each) => (minorNumber(each) > minorNumber(newest) ? each : newest));
}

/** A command calls it once, before it asks for a layout. */
export function chooseServers(servers: ServerVersions): void {
  chosen = servers;
}

/** The versions of this process: those of its command line, or the default ones. */
export function chosenServers(): ServerVersions {
  chosen ??= parseServers(DEFAULT_SERVERS);
  return chosen;
}
