import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from '../../values/object-meta.js';
import { CHARACTER_COST, PATTERN_COST } from '../budget.js';
import { declare } from '../overload.js';
import { isDate } from '../time-text.js';
import { CelFormat, CelList, CelOptional, NONE, sizeOf } from '../values.js';
import { urlProblem } from './urls.js';

/** No name is longer; of longer texts the beginning shows as much. */
const NAME_LENGTH_MAX = 1_000;

const short =
  (problems: (text: string) => string[]) =>
  (text: string): string[] =>
    problems(text.slice(0, NAME_LENGTH_MAX));
/** A prefix may end with a dash. */
const prefix = (problems: (text: string) => string[]) => short((text) => problems(text.replace(/-$/, 'a')));

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATETIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

const FORMATS: Readonly<Record<string, CelFormat>> = {
  dns1123Label: new CelFormat('DNS1123Label', short(dnsLabelProblems), 30),
  dns1123Subdomain: new CelFormat('DNS1123Subdomain', short(dnsSubdomainProblems), 60),
  dns1035Label: new CelFormat('DNS1035Label', short(dns1035LabelProblems), 30),
  qualifiedName: new CelFormat('QualifiedName', short(labelKeyProblems), 60),
  dns1123LabelPrefix: new CelFormat('DNS1123LabelPrefix', prefix(dnsLabelProblems), 30),
  dns1123SubdomainPrefix: new CelFormat('DNS1123SubdomainPrefix', prefix(dnsSubdomainProblems), 60),
  dns1035LabelPrefix: new CelFormat('DNS1035LabelPrefix', prefix(dns1035LabelProblems), 30),
  labelValue: new CelFormat('LabelValue', short(labelValueProblems), 40),
  uri: new CelFormat('URI', (text) => [urlProblem(text)].filter((each) => each !== undefined), 1_000),
  uuid: new CelFormat('uuid', (text) => (UUID.test(text) ? [] : ['does not match the UUID format']), 79),
  byte: new CelFormat('byte', (text) => (BASE64.test(text) ? [] : ['invalid base64']), 84),
  date: new CelFormat('date', (text) => (DATE.test(text) && isTime(text) ? [] : ['invalid date']), 100),
  datetime: new CelFormat('datetime', (text) => (DATETIME.test(text) && isTime(text) ? [] : ['invalid datetime']), 100),
};

export const NAMED_FORMATS = [
  ...Object.entries(FORMATS).map(([name, format]) => declare(`format.${name}() -> format`, () => format)),
  declare('format.named(string) -> optional<format>', (name: string) =>
    Object.hasOwn(FORMATS, name) ? new CelOptional(FORMATS[name]!) : NONE,
  ),
  declare('format::validate(string) -> optional<list<string>>', validate, ([format, text]) => {
    const { patternLength } = format as CelFormat;
    return Math.ceil((1 + sizeOf(text!)) * CHARACTER_COST) * Math.ceil(patternLength * PATTERN_COST);
  }),
];

function validate(format: CelFormat, text: string): CelOptional {
  const problems = format.problems(text);
  return problems.length === 0 ? NONE : new CelOptional(new CelList(problems));
}

function isTime(text: string): boolean {
  return isDate(text.split(/\D/, 6).map(Number));
}
