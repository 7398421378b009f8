import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { fileProblem } from '../base/file-problem.js';
import { ConfigError } from '../compose/config/config-error.js';
import { isObject, type JsonObject } from '../kube/json.js';

const EXTENSIONS = /\.(ya?ml|json)$/i;
const FOLDER_LEVELS_MAX = 16;
const FILES_MAX = 2_000;
const FILE_BYTES_MAX = 16 << 20;
const OBJECTS_MAX = 10_000;
/** Bound on the problems shown, so that the first ones stay on the screen. */
const PROBLEMS_MAX = 10;

interface Reading {
  readonly objects: JsonObject[];
  readonly problems: string[];
}

/**
 * Returns all objects in a folder (or in one file), in the order of the paths: files of YAML or JSON, with any number of
 * documents each. Lists are unrolled. Throws ConfigError with all problems, each with file and line.
 */
export function readManifests(path: string): JsonObject[] {
  const reading: Reading = { objects: [], problems: [] };
  const files = filesUnder(path);
  for (const file of files) readFile(file, reading);
  const { objects, problems } = reading;
  if (problems.length === 0 && objects.length === 0) {
    problems.push(`--manifests: ${path} holds no objects; give files that end in .yaml, .yml or .json.`);
  }
  if (objects.length > OBJECTS_MAX) {
    problems.push(`--manifests: ${path} holds ${objects.length} objects; at most ${OBJECTS_MAX} can be taken.`);
  }
  if (problems.length > PROBLEMS_MAX) {
    problems.splice(
      PROBLEMS_MAX,
      Infinity,
      `--manifests: ${problems.length - PROBLEMS_MAX} more problems are not shown.`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return objects;
}

function filesUnder(path: string): string[] {
  try {
    const files = statSync(path).isDirectory() ? folderFiles(path, FOLDER_LEVELS_MAX) : [path];
    if (files.length <= FILES_MAX) return files;
    throw new ConfigError([`--manifests: ${path} has more than ${FILES_MAX} files; name a smaller folder.`]);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { path: where = path } = error as NodeJS.ErrnoException;
    throw new ConfigError([`--manifests: ${where} cannot be read (${fileProblem(error)}).`]);
  }
}

/** Omits hidden entries, in which editors and mounted ConfigMaps keep copies. */
function folderFiles(folder: string, levelsLeft: number): string[] {
  if (levelsLeft === 0) {
    throw new ConfigError([`--manifests: ${folder} is too deep; at most ${FOLDER_LEVELS_MAX} folders may be nested.`]);
  }
  const found: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    if (name.startsWith('.')) continue;
    const path = join(folder, name);
    if (statSync(path).isDirectory()) found.push(...folderFiles(path, levelsLeft - 1));
    else if (EXTENSIONS.test(name)) found.push(path);
    if (found.length > FILES_MAX) break;
  }
  return found;
}

function readFile(file: string, reading: Reading): void {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > FILE_BYTES_MAX) {
      reading.problems.push(`--manifests: ${file} has ${size} bytes; at most ${FILE_BYTES_MAX} can be taken.`);
      return;
    }
    text = readFileSync(file, 'utf8');
  } catch (error) {
    reading.problems.push(`--manifests: ${file} cannot be read (${fileProblem(error)}).`);
    return;
  }
  for (const document of documentsOf(text)) readDocument(file, document, reading);
}

interface Document {
  /** Padded with empty lines, so that the parser reports line numbers of the file. */
  readonly text: string;
  /** Number of its first line with content, from 1. */
  readonly line: number;
}

/** Splits a file without parsing: a line that begins with three dashes always ends a document. */
function documentsOf(text: string): Document[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const starts = lines.flatMap((line, index) => (/^---(\s|$)/.test(line) ? [index] : []));
  // Text before the first separator is a document too, unless it only has directives.
  if (starts.length === 0 || lines.slice(0, starts[0]).some((line) => !/^\s*(#|$)|^%/.test(line))) starts.unshift(0);
  else starts[0] = 0;
  return starts.map((start, index) => {
    const documentLines = lines.slice(start, starts[index + 1]);
    const content = documentLines.findIndex((line) => !/^\s*(#|$)|^%|^---\s*(#|$)/.test(line));
    return { text: '\n'.repeat(start) + documentLines.join('\n'), line: start + Math.max(0, content) + 1 };
  });
}

function readDocument(file: string, { text, line }: Document, reading: Reading): void {
  let parsed: unknown;
  try {
    [parsed] = loadAll(text);
  } catch (error) {
    const { reason, mark } = error as { reason?: string; mark?: { line: number } };
    const at = mark === undefined ? line : mark.line + 1;
    reading.problems.push(`--manifests: ${file}:${at}: ${reason ?? (error as Error).message}.`);
    return;
  }
  if (parsed === undefined || parsed === null) return;
  takeObject(parsed, `--manifests: ${file}:${line}:`, reading);
}

function takeObject(value: unknown, where: string, reading: Reading): void {
  if (!isObject(value)) {
    reading.problems.push(`${where} this is not an object with apiVersion and kind.`);
    return;
  }
  const { apiVersion, kind, metadata, items } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '' || typeof kind !== 'string' || kind === '') {
    reading.problems.push(`${where} an object needs apiVersion and kind.`);
    return;
  }
  // Objects of kustomize exist in files only, not in the API.
  if (apiVersion.startsWith('kustomize.config.k8s.io/')) return;
  if (kind.endsWith('List') && Array.isArray(items)) {
    items.forEach((item, index) => {
      takeObject(item, `${where} items[${index}]:`, reading);
    });
    return;
  }
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '') {
    reading.problems.push(`${where} ${kind} needs metadata.name: the rehearsal asks for it again by that name.`);
    return;
  }
  reading.objects.push(value);
}
