import { isIP, isIPv4, isIPv6 } from 'node:net';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}$/i;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** A text that is longer is none of the formats below, and is not looked at: some take the square of a text's length. */
const FORMATTED_LENGTH_MAX = 4 * 1024;

/** The formats of text that kube-apiserver checks in custom resources, by their names without hyphens. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  uri: isRequestUri,
  email: (text) =>
    /^(?:[^<>@]*<)?[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;\\]+>?$/.test(text) && text.includes('<') === text.endsWith('>'),
  hostname: isHostname,
  ipv4: (text) => isIP(withoutLeadingZeros(text)) !== 0 && text.includes('.'),
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  cidr: isCidr,
  mac: (text) =>
    /^(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}(?:(?:[0-9a-f]{2}\1){2}|(?:[0-9a-f]{2}\1){14})?[0-9a-f]{2}$/i.test(
      text,
    ) || /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4})?$/i.test(text),
  uuid: (text) => UUID.test(text),
  uuid3: (text) => UUID.exec(text)?.[1] === '3',
  uuid4: (text) => UUID.exec(text)?.[1] === '4' && /[89ab]/i.test(UUID.exec(text)![2]!),
  uuid5: (text) => UUID.exec(text)?.[1] === '5' && /[89ab]/i.test(UUID.exec(text)![2]!),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  rgbcolor: isRgbColor,
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && DNS_LABEL.test(text),
  k8slongname: (text) => text.length <= 253 && text.split('.').every((label) => DNS_LABEL.test(label)),
};

/** Read once from left to right, and rightly long. */
const UNBOUNDED = ['byte', 'password', 'uri'];

/** A check for texts of a format, or undefined for one that nobody checks. */
export function textFormat(format: string): ((text: string) => boolean) | undefined {
  const name = format.replaceAll('-', '');
  if (!Object.hasOwn(FORMATS, name)) return undefined;
  const matches = FORMATS[name]!;
  return (text) => (UNBOUNDED.includes(name) || text.length <= FORMATTED_LENGTH_MAX) && matches(text);
}

/** Whether kube-apiserver checks the format in values of this type (empty for none given). */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return Object.hasOwn(FORMATS, format.replaceAll('-', ''));
  if (type === 'integer') return format === 'int32' || format === 'int64';
  return type === 'number' && (format === 'float' || format === 'double');
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  if (year < 100) date.setUTCFullYear(year);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

const UNITS = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

function isDuration(text: string): boolean {
  if (/^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true;
  return [...text.matchAll(/\d+\s*([A-Za-zµ]+)/g)].some(([, unit]) => UNITS.test(unit!));
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((label) => Buffer.byteLength(label) > 63)) return false;
  const isLabel = (label: string): boolean =>
    /^[a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\p{S}\p{L}-]*[a-zA-Z0-9\p{S}\p{L}])?$/u.test(label);
  return labels.every(isLabel) && (labels.length === 1 || /^[a-zA-Z\p{L}]{2,63}$/u.test(labels.at(-1)!));
}

function isRequestUri(text: string): boolean {
  if (/[\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith('/')) return true;
  const match = /^[a-zA-Z][a-zA-Z0-9+.-]*:(\/\/([^/?#]*))?/.exec(text);
  return match !== null && !/[\s"<>\\^`{|}]/.test(match[2] ?? '');
}

function isCidr(text: string): boolean {
  const [address = '', length = '', more] = text.split('/');
  if (more !== undefined || !/^\d{1,3}$/.test(length)) return false;
  const plain = withoutLeadingZeros(address);
  if (isIPv4(plain)) return Number(length) <= 32;
  return isIPv6(plain) && !plain.includes('%') && Number(length) <= 128;
}

/** kube-apiserver still takes `010.0.0.1` for `10.0.0.1`. */
function withoutLeadingZeros(address: string): string {
  return address.replace(/(?<=^|[.])0+(?=\d)/g, '');
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (10 - index) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, '');
  if (digits.length < 12 || digits.length > 19) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const match = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  return match?.slice(1).every((part) => Number(part) <= 255) === true;
}
