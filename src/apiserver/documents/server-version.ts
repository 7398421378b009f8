/** What a server says of its own build at `/version`. */
export interface ServerVersion {
  /** `v1.36.0+straddle.2`: the Kubernetes version that is served, then whose build it is. */
  readonly gitVersion: string;
  readonly gitCommit?: string;
  /** RFC 3339. */
  readonly buildDate?: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Fields in kube-apiserver's order; all are text, also the numbers. */
export function versionDocument({ gitVersion, gitCommit = '', buildDate = '1970-01-01T00:00:00Z' }: ServerVersion) {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: minor === '' ? '' : String(Math.max(0, Number(minor) - 1)),
    gitVersion,
    gitCommit,
    gitTreeState: '',
    buildDate,
    // Clients print what they find here; it names what the server runs on.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${ARCHITECTURES[process.arch] ?? process.arch}`,
  };
}
