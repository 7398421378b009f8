import { isObject, type Json, member } from '../../kube/json.js';

/** Returns the first fault of a value, as the middle of a sentence that names its place; undefined if there is none. */
export type Check = (value: Json | undefined, place: string) => string | undefined;

export const isText: Check = (value, place) => (typeof value === 'string' ? undefined : `${place} is not a text`);
export const isFlag: Check = (value, place) =>
  typeof value === 'boolean' ? undefined : `${place} is not true or false`;

/** `1.36`. */
export const isMinorVersion: Check = (value, place) =>
  typeof value === 'string' && /^\d+\.\d+$/.test(value) ? undefined : `${place} is not a minor version`;

/** An object with all of the `required` members, and with those of the `optional` ones that it has. */
export function members(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): Check {
  return (value, place) => {
    if (!isObject(value)) return `${place} is not an object`;
    for (const [name, check] of Object.entries(required)) {
      const fault = check(member(value, name), joined(place, name));
      if (fault !== undefined) return fault;
    }
    for (const [name, check] of Object.entries(optional)) {
      const given = member(value, name);
      const fault = given === undefined ? undefined : check(given, joined(place, name));
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

export function list(check: Check): Check {
  return (value, place) => {
    if (!Array.isArray(value)) return `${place} is not a list`;
    for (const [index, each] of value.entries()) {
      const fault = check(each, `${place}[${index}]`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

/** An object whose members, whatever their names are, all pass. */
export function record(check: Check): Check {
  return (value, place) => {
    if (!isObject(value)) return `${place} is not an object`;
    for (const [name, each] of Object.entries(value)) {
      const fault = check(each, joined(place, name));
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function joined(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}
