import { readFileSync } from 'node:fs';

/** What a control plane leaves in its folder for its next start. */
export interface PlaneState {
  readonly versions: readonly string[];
}

export const PLANE_FILE = 'plane.json';
/** The format that this program writes, and the newest that it reads. */
const FORMAT = 1;

export function planeStateText({ versions }: PlaneState): string {
  return `${JSON.stringify({ format: FORMAT, versions }, null, 2)}\n`;
}

/** Undefined where there is none yet. Throws a sentence for what a newer program wrote. */
export function readPlaneState(path: string): PlaneState | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read (${code}); use another --data-dir, or mend its rights.`);
  }
  const { format, versions } = parse(text);
  if (typeof format !== 'number' || !Array.isArray(versions) || !versions.every((each) => typeof each === 'string'))
    throw new Error(`${path} is not what \`straddle up\` writes; use another --data-dir.`);
  if (format > FORMAT)
    throw new Error(
      `${path} was written by a newer Straddle (format ${format}, this one knows ${FORMAT}); start that one, or use another --data-dir.`,
    );
  return { versions };
}

function parse(text: string): { format?: unknown; versions?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
