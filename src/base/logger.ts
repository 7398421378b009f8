/** Writes log lines with fields. `info` is for operators; `debug` may be one line per request. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns the same logger with fields added to every line. */
  with(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  readonly write: (line: string) => void;
  readonly nowMs: () => number;
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createLogger(options: LoggerOptions, bound: LogFields = {}): Logger {
  const log = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (RANK[level] < RANK[options.level]) return;
    const all = { ...bound, ...fields };
    const time = new Date(options.nowMs()).toISOString();
    options.write(
      options.format === 'json' ? jsonLine(time, level, message, all) : textLine(time, level, message, all),
    );
  };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (fields) => createLogger(options, { ...bound, ...fields }),
  };
}

/** Output of a program's log. */
export interface LoggerIo {
  readonly stderr: (line: string) => void;
  readonly stderrIsTerminal: boolean;
  readonly nowMs: () => number;
}

/** Returns the logger of a server according to its flags. */
export function serverLogger(
  { logLevel, logFormat }: { readonly logLevel: LogLevel; readonly logFormat: 'auto' | 'json' | 'text' },
  { stderr, stderrIsTerminal, nowMs }: LoggerIo,
): Logger {
  const format = logFormat === 'auto' ? (stderrIsTerminal ? 'text' : 'json') : logFormat;
  return createLogger({ level: logLevel, format, write: stderr, nowMs });
}

export const silentLogger: Logger = createLogger({
  level: 'error',
  format: 'json',
  write: () => {},
  nowMs: () => 0,
});

function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  return `${JSON.stringify({ time, level, msg: message, ...plain(fields) })}\n`;
}

function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(plain(fields)).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return ` ${name}=${/[\s"=]/.test(text ?? '') ? JSON.stringify(text) : text}`;
  });
  return `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${message}${pairs.join('')}\n`;
}

function plain(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plainValue(value)]));
}

/** Converts a value for JSON, an Error to its message; logging never throws. */
function plainValue(value: unknown): unknown {
  if (value instanceof Error) return value.message;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return String(value);
  }
}
