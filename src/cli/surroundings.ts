/** All that commands touch outside themselves, so that tests can stand in for it. Only `main.ts` has the real one. */
export interface Surroundings {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stderrIsTerminal: boolean;
  readonly stdoutIsTerminal?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly hostname: string;
  /** Addresses of all network interfaces, in the system's order. */
  readonly addresses: readonly string[];
  readonly readFile: (path: string) => string;
  readonly writeFile: (path: string, text: string) => void;
  readonly nowMs: () => number;
  /** Calls back for each SIGTERM and SIGINT; returns how to take that back. */
  readonly onStopSignal: (listener: (signal: string) => void) => () => void;
  /** Ends the process at once, whatever is under way. Only for operators who ask twice, and for stops that hang. */
  readonly exitNow: (code: number) => void;
}
