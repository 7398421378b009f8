export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Everything outside the process that commands use, made by `main.ts`; tests replace it. */
export interface Surroundings {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stderrIsTerminal: boolean;
  readonly stdoutIsTerminal?: boolean;
  /** Returns the size of the terminal of standard output, in characters, now; undefined if it is not known. */
  readonly screenSize?: () => ScreenSize | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly hostname: string;
  /** Addresses of all network interfaces, in the system's order. */
  readonly addresses: readonly string[];
  readonly readFile: (path: string) => string;
  readonly writeFile: (path: string, text: string) => void;
  readonly nowMs: () => number;
  /** Calls back for each SIGTERM and SIGINT; returns a function that removes the listener. */
  readonly onStopSignal: (listener: (signal: string) => void) => () => void;
  /**
   * Prepares for work that must not end halfway: from now on, output that cannot be written is dropped instead of ending the
   * process, and SIGHUP is a stop signal too for listeners that are added later.
   */
  readonly outlastTerminal: () => void;
  /** Opens an address in the browser of this machine, if it has one; returns a function that removes what was made for it. */
  readonly openBrowser?: (address: string) => () => void;
  /** Ends the process at once: for a second stop signal, and for stops that hang. */
  readonly exitNow: (code: number) => void;
}

export interface StopSignal {
  /** Resolves with the name of the first signal. */
  readonly first: Promise<string>;
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Removes the listener. */
  forget(): void;
}

/** Listens for stop signals. `again` is called for each one after the first. */
export function stopSignal({ onStopSignal }: Surroundings, again: (signal: string) => void): StopSignal {
  const controller = new AbortController();
  let forget = () => {};
  const first = new Promise<string>((resolve) => {
    forget = onStopSignal((signal) => {
      if (controller.signal.aborted) again(signal);
      controller.abort();
      resolve(signal);
    });
  });
  return { first, signal: controller.signal, forget };
}
