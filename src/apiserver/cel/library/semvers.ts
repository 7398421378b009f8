import { compareSemvers } from '../compare.js';
import { fail } from '../failure.js';
import { declare, traversal } from '../overload.js';
import { CelSemver, intFrom, UINT_MAX, type Value } from '../values.js';

const NUMBER = '(0|[1-9]\\d*)';
const PART = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PART}(?:\\.${PART})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
/** Digits of UINT_MAX. */
const UINT_DIGITS_MAX = 20;

export const SEMVERS = [
  declare('semver(string) -> semver', read, traversal()),
  declare('semver(string, bool) -> semver', read, traversal()),
  declare('isSemver(string) -> bool', isSemver, traversal()),
  declare('isSemver(string, bool) -> bool', isSemver, traversal()),
  declare('semver::isGreaterThan(semver) -> bool', (a: CelSemver, b: CelSemver) => compareSemvers(a, b) > 0),
  declare('semver::isLessThan(semver) -> bool', (a: CelSemver, b: CelSemver) => compareSemvers(a, b) < 0),
  declare('semver::compareTo(semver) -> int', compareSemvers),
  declare('semver::major() -> int', ({ major }: CelSemver) => signed(major)),
  declare('semver::minor() -> int', ({ minor }: CelSemver) => signed(minor)),
  declare('semver::patch() -> int', ({ patch }: CelSemver) => signed(patch)),
];

/** Kubernetes converts the unsigned numbers of a version to CEL's int, which makes those above INT_MAX negative. */
function signed(unsigned: bigint): Value {
  return intFrom(BigInt.asIntN(64, unsigned));
}

/** Returns the version, or the message of kube-apiserver's failure. */
function parse(text: string): CelSemver | string {
  const found = SEMVER.exec(text);
  if (found === null) return unreadable(text);
  const [, major, minor, patch, prerelease] = found as unknown as [string, string, string, string, string?];
  const parts = prerelease?.split('.') ?? [];
  const tooLarge = [major, minor, patch, ...parts].find(isTooLarge);
  if (tooLarge !== undefined) return `strconv.ParseUint: parsing "${tooLarge}": value out of range`;
  return new CelSemver(BigInt(major), BigInt(minor), BigInt(patch), parts);
}

/** Long numbers are not converted: that takes time in proportion to the square of their length. */
function isTooLarge(part: string): boolean {
  return /^\d+$/.test(part) && (part.length > UINT_DIGITS_MAX || BigInt(part) > UINT_MAX);
}

function isSemver(text: string, isLenient = false): boolean {
  return typeof parse(isLenient ? normalize(text) : text) !== 'string';
}

function read(text: string, isLenient = false): CelSemver {
  const version = parse(isLenient ? normalize(text) : text);
  return typeof version === 'string' ? fail(version) : version;
}

function unreadable(text: string): string {
  if (text === '') return 'Version string empty';
  const [major, minor, ...rest] = text.split('.') as [string, ...string[]];
  if (minor === undefined || rest.length === 0) return 'No Major.Minor.Patch elements found';
  const patch = /^[^-+]*/.exec(rest.join('.'))![0];
  for (const [title, value] of Object.entries({ Major: major, Minor: minor, Patch: patch })) {
    const quoted = JSON.stringify(value);
    if (!/^\d*$/.test(value)) return `Invalid character(s) found in ${title.toLowerCase()} number ${quoted}`;
    if (/^0\d/.test(value)) return `${title} number must not contain leading zeroes ${quoted}`;
  }
  return 'Prerelease or build metadata is not valid';
}

/** Turns `v1.2` into `1.2.0`: removes the letter and leading zeros, and adds missing numbers. */
function normalize(text: string): string {
  const bare = text.replace(/^v/, '');
  const end = bare.search(/[-+]/);
  const core = end === -1 ? bare : bare.slice(0, end);
  const numbers = core.split('.').map((each) => (/^\d+$/.test(each) ? each.replace(/^0+(?=\d)/, '') : each));
  while (numbers.length < 3) numbers.push('0');
  return numbers.join('.') + (end === -1 ? '' : bare.slice(end));
}
