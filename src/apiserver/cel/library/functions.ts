import type { Overload } from '../overload.js';
import { ADDRESSES } from './address-library.js';
import { CONVERSIONS } from './conversions.js';
import { NAMED_FORMATS } from './format-library.js';
import { LISTS } from './lists.js';
import { OPERATORS } from './operators.js';
import { OPTIONALS } from './optionals.js';
import { QUANTITIES } from './quantities.js';
import { REGEX } from './regex.js';
import { SEMVERS } from './semvers.js';
import { SETS } from './sets.js';
import { STRINGS } from './strings.js';
import { TIMES } from './times.js';
import { URLS } from './urls.js';

const ALL = [
  OPERATORS,
  CONVERSIONS,
  STRINGS,
  REGEX,
  TIMES,
  LISTS,
  SETS,
  OPTIONALS,
  QUANTITIES,
  URLS,
  ADDRESSES,
  NAMED_FORMATS,
  SEMVERS,
];

/** All functions that kube-apiserver offers to rules, by name. */
export const FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = collect();

function collect(): Map<string, Overload[]> {
  const functions = new Map<string, Overload[]>();
  for (const { name, overload } of ALL.flat()) {
    const overloads = functions.get(name);
    if (overloads === undefined) functions.set(name, [overload]);
    else overloads.push(overload);
  }
  return functions;
}
