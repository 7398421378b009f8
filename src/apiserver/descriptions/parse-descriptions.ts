import {
  type CapturedFormat,
  type FileOrigin,
  parseCaptured,
  readBounded,
  SurfaceFormatError,
} from '../surfaces/captured-file.js';
import { type Check, isMinorVersion, isText, members, record } from '../surfaces/member-checks.js';
import { DESCRIPTIONS_FORMAT, type DescriptionsFile } from './descriptions-file.js';

const DESCRIPTIONS_FILE: CapturedFormat = {
  name: 'descriptions',
  member: 'descriptionsFormat',
  number: DESCRIPTIONS_FORMAT,
  command: '`straddle surface capture --descriptions`',
};

/** The descriptions of a cluster with everything on have about a megabyte. */
export const DESCRIPTIONS_FILE_BYTES_MAX = 16 * 1024 * 1024;
/** The longest text of Kubernetes has some thousand characters. Common types are repeated in every OpenAPI document. */
const TEXT_CHARS_MAX = 20_000;

const isBoundedText: Check = (value, place) =>
  typeof value === 'string' && value.length > TEXT_CHARS_MAX
    ? `${place} has more than ${TEXT_CHARS_MAX} characters`
    : isText(value, place);
const TEXTS = record(isBoundedText);
const FILE = members({
  capturedFrom: isText,
  version: isMinorVersion,
  objects: TEXTS,
  lists: TEXTS,
  parameters: TEXTS,
  types: record(members({}, { text: isBoundedText, fields: TEXTS })),
});

/** Throws SurfaceFormatError unless the text is a complete descriptions file of the format that this version reads. */
export function parseDescriptions(text: string, origin: FileOrigin): DescriptionsFile {
  const value = parseCaptured(text, origin, DESCRIPTIONS_FILE);
  const fault = FILE(value, '');
  if (fault !== undefined) throw new SurfaceFormatError(`${origin.file} is damaged, ${fault}: ${origin.remedy}.`);
  return value as unknown as DescriptionsFile;
}

/** Reads the descriptions that an operator captured. Rejects with SurfaceFormatError, whose message names the file. */
export async function loadDescriptionsFile(file: string): Promise<DescriptionsFile> {
  const text = await readBounded(file, DESCRIPTIONS_FILE_BYTES_MAX, DESCRIPTIONS_FILE);
  return parseDescriptions(text, { file, remedy: captureAgain(file) });
}

/** Throws SurfaceFormatError if the descriptions are not those of the version that is served. */
export function checkDescribedVersion({ version, capturedFrom }: DescriptionsFile, served: string, file: string): void {
  if (version === served) return;
  throw new SurfaceFormatError(
    `${file} has the descriptions of ${capturedFrom}, and this server serves ${served}: ${captureAgain(file)} from a server of ${served}, or serve ${version}.`,
  );
}

function captureAgain(file: string): string {
  return `capture it again with \`straddle surface capture --descriptions --output=${file}\``;
}
