/** `min hour day month weekday`, with the names and ranges of each. */
const FIELDS: readonly { readonly min: number; readonly max: number; readonly names?: readonly string[] }[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

/** What is wrong with a schedule of cron, in the words of the library that kube-apiserver uses; undefined where nothing is. */
export function scheduleProblem(schedule: string): string | undefined {
  const spec = schedule.replace(/^(CRON_)?TZ=\S+\s+/, '');
  if (spec === '') return 'empty spec string';
  if (spec.startsWith('@')) return descriptorProblem(spec);
  const parts = spec.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, part] of parts.entries()) {
    for (const expression of part.split(',')) {
      const problem = rangeProblem(expression, FIELDS[index]!);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function descriptorProblem(spec: string): string | undefined {
  if (DESCRIPTORS.has(spec)) return undefined;
  if (spec.startsWith('@every ')) {
    const duration = spec.slice('@every '.length);
    return /^(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(duration)
      ? undefined
      : `failed to parse duration ${spec}: time: invalid duration "${duration}"`;
  }
  return `unrecognized descriptor: ${spec}`;
}

function rangeProblem(expression: string, bounds: (typeof FIELDS)[number]): string | undefined {
  const [range = '', step, ...more] = expression.split('/');
  if (more.length > 0) return `too many slashes: ${expression}`;
  const [low = '', high, ...rest] = range.split('-');
  if (rest.length > 0) return `too many hyphens: ${expression}`;
  let start = bounds.min;
  let end = bounds.max;
  if (low !== '*' && low !== '?') {
    const first = fieldValue(low, bounds);
    if (typeof first === 'string') return first;
    const last = high === undefined ? first : fieldValue(high, bounds);
    if (typeof last === 'string') return last;
    start = first;
    end = high === undefined && step !== undefined ? bounds.max : last;
  }
  const stride = step === undefined ? 1 : fieldValue(step, { min: 0, max: 0 });
  if (typeof stride === 'string') return stride;
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return stride === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

function fieldValue(text: string, { names, min }: (typeof FIELDS)[number]): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + min;
  if (/^-\d+$/.test(text)) return `negative number (${text}) not allowed: ${text}`;
  if (/^\d+$/.test(text)) return Number(text);
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
