/** More duplicates than this are not listed. */
export const DUPLICATE_FIELDS_MAX = 100;

/**
 * The paths of members that a JSON text names twice in one object: a parser keeps only the last, field validation wants
 * to know. The text must be valid JSON; it is scanned once, without recursion.
 */
export function duplicateFields(text: string): string[] {
  const duplicates: string[] = [];
  const levels: Level[] = [];
  const token = /[{}[\],:]|"(?:[^"\\]|\\.)*"/gs;
  let previous: string | undefined;
  for (const [each] of text.matchAll(token)) {
    const level = levels.at(-1);
    if (each === '{' || each === '[') levels.push(open(each, level));
    else if (each === '}' || each === ']') levels.pop();
    else if (each === ',' && level?.names === undefined && level !== undefined) level.index++;
    else if (each === ':' && level?.names !== undefined && previous !== undefined) {
      enter(level, JSON.parse(previous) as string, duplicates);
    }
    previous = each.startsWith('"') ? each : undefined;
  }
  return duplicates;
}

interface Level {
  readonly path: string;
  /** Undefined in a list. */
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
}

function open(bracket: string, parent: Level | undefined): Level {
  return {
    path: parent === undefined ? '' : pathIn(parent),
    names: bracket === '{' ? new Set() : undefined,
    name: '',
    index: 0,
  };
}

function pathIn({ path, names, name, index }: Level): string {
  if (names === undefined) return `${path}[${index}]`;
  return path === '' ? name : `${path}.${name}`;
}

function enter(level: Level, name: string, duplicates: string[]): void {
  level.name = name;
  if (level.names!.has(name) && duplicates.length < DUPLICATE_FIELDS_MAX) duplicates.push(pathIn(level));
  level.names!.add(name);
}
