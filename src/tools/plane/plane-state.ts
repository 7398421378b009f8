import { readFileSync } from 'node:fs';
import { parsedObject } from '../../kube/json.js';

/** The state of a control plane in its data directory, for its next start. */
export interface PlaneState {
  readonly versions: readonly string[];
}

export const PLANE_FILE = 'plane.json';
/** The format that this program writes, and the newest that it reads. */
const FORMAT = 1;

export function planeStateText({ versions }: PlaneState): string {
  return `${JSON.stringify({ format: FORMAT, versions }, null, 2)}\n`;
}

/** Returns undefined without a file. Throws for a file of another program, or of a newer one. */
export function readPlaneState(path: string): PlaneState | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read (${code}); use another --data-dir, or mend its rights.`);
  }
  const { format, versions } = parsedObject(text);
  if (typeof format !== 'number' || !Array.isArray(versions) || !versions.every((each) => typeof each === 'string'))
    throw new Error(`${path} is not what \`straddle up\` writes; use another --data-dir.`);
  if (format > FORMAT)
    throw new Error(
      `${path} was written by a newer Straddle (format ${format}, this one knows ${FORMAT}); start that one, or use another --data-dir.`,
    );
  return { versions };
}
