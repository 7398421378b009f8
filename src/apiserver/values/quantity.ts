/** An amount as Kubernetes writes it: `1500m`, `2Gi`, `1e3`. Kept exactly, in billionths. */
export interface Quantity {
  readonly billionths: bigint;
  /** The family of suffixes it was written with, which its canonical form keeps. */
  readonly family: 'decimal' | 'binary' | 'exponent';
}

export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}

/** Longer texts are refused: no amount needs them, and big integers cost time. */
export const QUANTITY_LENGTH_MAX = 64;

const BILLION = 1_000_000_000n;
const LARGEST = 2n ** 63n - 1n;
const EXPONENT_MAX = 30;
const DECIMAL: readonly (readonly [suffix: string, exponent: number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s;

export function parseQuantity(text: string): Quantity {
  const match = FORM.exec(text);
  const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
  if (
    match === null ||
    text.length > QUANTITY_LENGTH_MAX ||
    whole + fraction === '' ||
    !/^[eEinumkKMGTP]*[-+]?\d*$/.test(suffix)
  ) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const { family, numerator, denominator } = scaleOf(suffix);
  const digits = BigInt(whole + fraction);
  // Finer amounts than a billionth are rounded up, away from zero.
  const divisor = denominator * 10n ** BigInt(fraction.length);
  const scaled = digits * numerator * BILLION;
  const size = smaller(scaled / divisor + (scaled % divisor === 0n ? 0n : 1n), LARGEST * BILLION);
  return { family, billionths: sign === '-' ? -size : size };
}

export function compareQuantities(left: Quantity, right: Quantity): number {
  return left.billionths < right.billionths ? -1 : left.billionths > right.billionths ? 1 : 0;
}

/** The form kube-apiserver stores: no fraction, the largest suffix that leaves none. */
export function formatQuantity({ billionths, family }: Quantity): string {
  const size = billionths < 0n ? -billionths : billionths;
  const sign = billionths < 0n ? '-' : '';
  const isWhole = size % BILLION === 0n;
  // Small or broken amounts have no exact binary form.
  if (family === 'binary' && isWhole && size >= 1024n * BILLION) return sign + formatBinary(size / BILLION);
  return sign + formatDecimal(size, family === 'exponent');
}

export function canonicalQuantity(value: string | number): string {
  return formatQuantity(parseQuantity(String(value)));
}

function scaleOf(suffix: string): { family: Quantity['family']; numerator: bigint; denominator: bigint } {
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { family: 'binary', numerator: 1024n ** BigInt(binary), denominator: 1n };
  const decimal = DECIMAL.find(([each]) => each === suffix);
  const written = /^[eE]([-+]?\d+)$/.exec(suffix);
  const exponent = decimal?.[1] ?? (written === null ? undefined : Number(written[1]));
  if (exponent === undefined) throw new QuantityError("unable to parse quantity's suffix");
  const bounded = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, exponent));
  return {
    family: decimal === undefined ? 'exponent' : 'decimal',
    numerator: bounded > 0 ? 10n ** BigInt(bounded) : 1n,
    denominator: bounded < 0 ? 10n ** BigInt(-bounded) : 1n,
  };
}

function formatDecimal(billionths: bigint, asExponent: boolean): string {
  if (billionths === 0n) return '0';
  let amount = billionths;
  let exponent = -9;
  while (amount % 1000n === 0n && exponent < 18) {
    amount /= 1000n;
    exponent += 3;
  }
  if (asExponent) return exponent === 0 ? `${amount}` : `${amount}e${exponent}`;
  return `${amount}${DECIMAL.find(([, each]) => each === exponent)![0]}`;
}

function formatBinary(whole: bigint): string {
  let amount = whole;
  let power = 0;
  while (amount % 1024n === 0n && power < BINARY.length - 1) {
    amount /= 1024n;
    power++;
  }
  return `${amount}${BINARY[power]}`;
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
