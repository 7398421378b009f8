/** Whether this server is a plain pass-through to its own API server, and since when. */
export interface PassthroughState {
  readonly on: boolean;
  /** Time of the switch to this state. */
  readonly sinceMs: number;
  /** Free text of the operator; never longer than REASON_CHARS_MAX, without control characters. */
  readonly reason: string;
}

export interface WantedPassthrough {
  readonly on: boolean;
  readonly reason: string;
  /** The user who asked for it, for the log. */
  readonly by: string;
}

/** The result of a switch. */
export interface PassthroughSwitched {
  readonly state: PassthroughState;
  /** Undefined if the state is in the file and survives a restart; else why it does not. */
  readonly notKept: string | undefined;
}

/** The panic switch, as the request chain uses it. `state` is a property because it is read for every request. */
export interface Passthrough {
  readonly state: PassthroughState;
  /**
   * Switches all processes of this server. Settles within a bounded time. Resolves also if the file cannot be written; rejects
   * if it is not known whether the switch happened, because the process that has it does not answer.
   */
  set(wanted: WantedPassthrough): Promise<PassthroughSwitched>;
  /** Ends the look at the file, and the log lines. */
  close(): Promise<void>;
}

export const REASON_CHARS_MAX = 256;

/** Returns text of a file or a caller as one short line for logs and reports. */
export function readableLine(text: string): string {
  return text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, REASON_CHARS_MAX)
    .trimEnd();
}

/** Reads a message of a client or of another process; undefined if it is no order to switch. */
export function readWanted(value: unknown, by: string): WantedPassthrough | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { on, reason = '' } = value as Readonly<Record<string, unknown>>;
  if (typeof on !== 'boolean' || typeof reason !== 'string') return undefined;
  return { on, reason: readableLine(reason), by: readableLine(by) };
}
