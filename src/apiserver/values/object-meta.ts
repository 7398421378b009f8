/** Names in Kubernetes. Each function returns the problems of a name, in kube-apiserver's words. */

export const DNS_SUBDOMAIN_LENGTH_MAX = 253;
export const DNS_LABEL_LENGTH_MAX = 63;
export const LABEL_NAME_LENGTH_MAX = 63;
export const LABEL_VALUE_LENGTH_MAX = 63;
/** All annotations of one object together, keys and values. */
export const ANNOTATIONS_BYTES_MAX = 256 * 1024;

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const DNS_SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;
const LABEL_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${LABEL_NAME})?`;

const DNS_LABEL_PATTERN = new RegExp(`^${DNS_LABEL}$`);
const DNS_1035_LABEL_PATTERN = new RegExp(`^${DNS_1035_LABEL}$`);
const DNS_SUBDOMAIN_PATTERN = new RegExp(`^${DNS_SUBDOMAIN}$`);
const LABEL_NAME_PATTERN = new RegExp(`^${LABEL_NAME}$`);
const LABEL_VALUE_PATTERN = new RegExp(`^${LABEL_VALUE}$`);

export function dnsSubdomainProblems(value: string): string[] {
  const problems = tooLong(value, DNS_SUBDOMAIN_LENGTH_MAX);
  if (!DNS_SUBDOMAIN_PATTERN.test(value)) {
    problems.push(
      mismatch(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        DNS_SUBDOMAIN,
        ['example.com'],
      ),
    );
  }
  return problems;
}

export function dnsLabelProblems(value: string): string[] {
  const problems = tooLong(value, DNS_LABEL_LENGTH_MAX);
  if (!DNS_LABEL_PATTERN.test(value)) {
    problems.push(
      DNS_SUBDOMAIN_PATTERN.test(value)
        ? 'must not contain dots'
        : mismatch(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            DNS_LABEL,
            ['my-name', '123-abc'],
          ),
    );
  }
  return problems;
}

export function dns1035LabelProblems(value: string): string[] {
  const problems = tooLong(value, DNS_LABEL_LENGTH_MAX);
  if (!DNS_1035_LABEL_PATTERN.test(value)) {
    problems.push(
      mismatch(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        DNS_1035_LABEL,
        ['my-name', 'abc-123'],
      ),
    );
  }
  return problems;
}

/** Names that only have to be one segment of a path: RBAC objects and others. */
export function pathSegmentProblems(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`);
}

/** A label key: also what Kubernetes calls a qualified name. */
export function labelKeyProblems(value: string): string[] {
  return isPlainKey(value) ? [] : keyProblems(value);
}

const SHORT_LABEL_NAME = new RegExp(`^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,${LABEL_NAME_LENGTH_MAX - 2}}[A-Za-z0-9])?$`);

/** Nearly every key is right; objects with thousands of them are checked several times on their way into the store. */
function isPlainKey(value: string): boolean {
  const slash = value.indexOf('/');
  if (!SHORT_LABEL_NAME.test(slash < 0 ? value : value.slice(slash + 1))) return false;
  return slash < 0 || (slash <= DNS_SUBDOMAIN_LENGTH_MAX && DNS_SUBDOMAIN_PATTERN.test(value.slice(0, slash)));
}

function keyProblems(value: string): string[] {
  const nameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const examples = ['MyName', 'my.name', '123-abc'];
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${mismatch(nameRule, LABEL_NAME, examples)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  const name = parts.at(-1)!;
  if (name === '') problems.push('name part must be non-empty');
  else problems.push(...tooLong(name, LABEL_NAME_LENGTH_MAX).map((problem) => `name part ${problem}`));
  if (!LABEL_NAME_PATTERN.test(name)) problems.push(`name part ${mismatch(nameRule, LABEL_NAME, examples)}`);
  return problems;
}

export function labelValueProblems(value: string): string[] {
  const problems = tooLong(value, LABEL_VALUE_LENGTH_MAX);
  if (!LABEL_VALUE_PATTERN.test(value)) {
    problems.push(
      mismatch(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        LABEL_VALUE,
        ['MyValue', 'my_value', '12345'],
      ),
    );
  }
  return problems;
}

function tooLong(value: string, lengthMax: number): string[] {
  // Go counts bytes.
  return Buffer.byteLength(value) > lengthMax ? [`must be no more than ${lengthMax} bytes`] : [];
}

function mismatch(rule: string, pattern: string, examples: readonly string[]): string {
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;
}
