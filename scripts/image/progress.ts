/** Returns a function that prints a line with the seconds since the start. */
export function progress(): (line: string) => void {
  const startedMs = Date.now();
  return (line) => process.stderr.write(`${((Date.now() - startedMs) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
}

/** Runs a script: a failure is one sentence on standard error, and exit code 1. */
export async function runScript(main: () => Promise<void> | void): Promise<void> {
  // A terminal sends the signal to the program that is running too, which ends; then temporary folders are removed as for any failure.
  process.on('SIGINT', () => {});
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
