/** A number as kube-apiserver's `%f` prints it: with commas between thousands, rounded half to even. */
export function fixedPoint(value: number, digits: number): string {
  const { mantissa, exponent } = binaryParts(Math.abs(value));
  const scaled = mantissa * 10n ** BigInt(digits);
  const rounded = exponent >= 0 ? scaled << BigInt(exponent) : roundedShift(scaled, BigInt(-exponent));
  const text = String(rounded).padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits).replace(/\B(?=(?:\d{3})+$)/g, ',');
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return digits === 0 ? sign + whole : `${sign}${whole}.${text.slice(text.length - digits)}`;
}

/** A number as `%e` prints it: `1.500000×10⁰²`. */
export function scientific(value: number, digits: number): string {
  const [mantissa, exponent] = value.toExponential(digits).split('e') as [string, string];
  const raised = [...exponent.slice(1).padStart(2, '0')].map((each) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(each)]).join('');
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

/** The shortest text of a number, with an exponent below -4 and from 6 on. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const text = value.toExponential();
  const exponent = Number(text.slice(text.indexOf('e') + 1));
  if (exponent >= -4 && exponent < 6) return String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A finite double is exactly mantissa × 2^exponent. */
function binaryParts(value: number): { mantissa: bigint; exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const high = bits.getBigUint64(0);
  const biased = Number((high >> 52n) & 0x7ffn);
  const fraction = high & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

function roundedShift(value: bigint, bits: bigint): bigint {
  const whole = value >> bits;
  const rest = value - (whole << bits);
  const half = 1n << (bits - 1n);
  return rest > half || (rest === half && (whole & 1n) === 1n) ? whole + 1n : whole;
}
