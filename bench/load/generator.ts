import { isInstalled, requireProgram } from '../../test/real/rig/debian-program.js';

/** Programs that make load, by what they speak, and the Debian package that has them. */
const PROGRAMS = {
  h2load: { speaks: 'HTTP/2', debianPackage: 'nghttp2-client' },
  wrk: { speaks: 'HTTP/1.1', debianPackage: 'wrk' },
} as const;

export type Generator = keyof typeof PROGRAMS;

let handwrittenOnly = process.env['STRADDLE_BENCH_LOAD'] === 'own';

/** The bundled generator for everything, as where nothing is installed. */
export function useHandwrittenGenerator(): void {
  handwrittenOnly = true;
}

/** Where the program is; undefined where the bundled generator takes its place. */
export function generatorPath(program: Generator): string | undefined {
  if (handwrittenOnly || !isInstalled(program)) return undefined;
  return requireProgram(program, PROGRAMS[program].debianPackage);
}

/** A line for each protocol: which program makes the load, and why where it is the bundled one. */
export function describeGenerators(): string[] {
  return Object.entries(PROGRAMS).map(([program, { speaks, debianPackage }]) => {
    const path = generatorPath(program as Generator);
    if (path !== undefined) return `load over ${speaks}: ${path}`;
    const why = handwrittenOnly
      ? 'as it was asked for'
      : `because ${program} is not installed (on Debian: apt-get install -y ${debianPackage})`;
    return `load over ${speaks}: the bundled generator, ${why}`;
  });
}
