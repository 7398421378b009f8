import { readFileSync } from 'node:fs';
import type { DescriptionTables, Texts, TypeTexts } from './descriptions-file.js';

/** The prose of OpenAPI documents. Pure look-ups, synchronous. */
export interface Descriptions {
  /** The texts of a built-in type; those of fields that it does not have are to be ignored. */
  ofType(typeName: string, isKind: boolean): TypeTexts;
  /** Members that every custom resource has, and those that are usual. */
  ofCustomObjects(): Texts;
  ofCustomLists(): Texts;
  /** A parameter; `scope` is the kind that requests are for, or `patch`, and `name` is that of the table. */
  ofParameter(scope: string, name: string): string | undefined;
}

/** Descriptions in Straddle's own words, short and for the most used kinds only. They do not depend on the version. */
const OWN_FILE = new URL('./data/own.json', import.meta.url);

let own: DescriptionTables | undefined;

/** Read on first use: a server that nobody asks for OpenAPI needs none. */
export function ownTables(): DescriptionTables {
  own ??= JSON.parse(readFileSync(OWN_FILE, 'utf8')) as DescriptionTables;
  return own;
}

export const OWN_DESCRIPTIONS: Descriptions = {
  ofType(typeName, isKind) {
    const { types, objects, lists } = ownTables();
    const texts = at(types, typeName);
    if (!isKind) return texts ?? {};
    return { ...texts, fields: { ...(typeName.endsWith('List') ? lists : objects), ...texts?.fields } };
  },
  ofCustomObjects: () => ownTables().objects,
  ofCustomLists: () => ownTables().lists,
  ofParameter: (scope, name) => parameterIn(ownTables(), scope, name),
};

/** The descriptions of a captured server, and Straddle's own for types and parameters that it did not have. */
export function capturedDescriptions(tables: DescriptionTables): Descriptions {
  return {
    ofType: (typeName, isKind) => at(tables.types, typeName) ?? OWN_DESCRIPTIONS.ofType(typeName, isKind),
    ofCustomObjects: () => tables.objects,
    ofCustomLists: () => tables.lists,
    ofParameter: (scope, name) => parameterIn(tables, scope, name) ?? OWN_DESCRIPTIONS.ofParameter(scope, name),
  };
}

function parameterIn({ parameters }: DescriptionTables, scope: string, name: string): string | undefined {
  return at(parameters, `${scope}.${name}`) ?? at(parameters, name);
}

function at<T>(members: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}
