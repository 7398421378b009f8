import { readFileSync } from 'node:fs';
import { binaryPath, H2SPEC } from '../real/rig/binaries.js';
import type { InteropCase } from './interop-case.js';
import { tryProgram } from './run-program.js';

export interface H2specDeviation {
  /** Section, as h2spec has it. */
  readonly section: string;
  readonly test: string;
  readonly reason: string;
}

/** Cases of h2spec that must fail. One that passes has to be taken off this list, and off docs/real-rig.md. */
export const H2SPEC_DEVIATIONS: readonly H2specDeviation[] = [
  {
    section: 'http2/5.3.1',
    test: 'Sends HEADERS frame that depend on itself',
    reason: 'RFC 9113, 5.3.2 has taken priorities back: their fields are read over, whatever is in them',
  },
  {
    section: 'http2/5.3.1',
    test: 'Sends PRIORITY frame that depend on itself',
    reason: 'RFC 9113, 5.3.2 has taken priorities back: PRIORITY is ignored but for its length and stream 0',
  },
];

/** Cases of h2spec 2.2.1 with `--strict`: fewer would mean that some were not run. */
const TESTS = 146;
const ANSWER_SECONDS_MAX = 2;

export const h2spec: InteropCase = {
  name: 'h2spec: conformance cases',
  async run(server) {
    const report = server.file('h2spec.xml', '');
    const target = ['--tls', '--insecure', '--host=127.0.0.1', `--port=${server.port}`, '--path=/later'];
    const settings = ['--strict', `--timeout=${ANSWER_SECONDS_MAX}`, `--junit-report=${report}`];
    const { stdout } = await tryProgram(binaryPath(H2SPEC), [...target, ...settings]);
    const results = readReport(readFileSync(report, 'utf8'));
    const faults = faultsOf(results);
    if (faults.length > 0) throw new Error(`${faults.join('\n')}\n${failuresOf(stdout.toString())}`);
    return `${results.length} cases, ${H2SPEC_DEVIATIONS.length} of them listed as deviations`;
  },
};

interface H2specResult {
  readonly section: string;
  readonly test: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
}

/** Reads h2spec's report in the format of JUnit. */
export function readReport(xml: string): H2specResult[] {
  const cases = xml.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs);
  return [...cases].map(([, section, test, content]) => ({
    section: section!,
    test: plain(test!),
    outcome: /<(?:failure|error)/.test(content!) ? 'failed' : /<skipped/.test(content!) ? 'skipped' : 'passed',
  }));
}

/** Returns the problems: cases not run, failures that are not listed, listed cases that pass. */
export function faultsOf(results: readonly H2specResult[], deviations = H2SPEC_DEVIATIONS, tests = TESTS): string[] {
  const faults = results.length === tests ? [] : [`${results.length} cases were run instead of ${tests}`];
  const listed = (result: H2specResult) =>
    deviations.some(({ section, test }) => section === result.section && test === result.test);
  for (const result of results) {
    const name = `${result.section} ${result.test}`;
    if (result.outcome === 'skipped') faults.push(`skipped: ${name}`);
    if (result.outcome === 'failed' && !listed(result)) faults.push(`failed: ${name}`);
    if (result.outcome === 'passed' && listed(result)) faults.push(`passes, but is listed as a deviation: ${name}`);
  }
  for (const { section, test } of deviations) {
    if (results.some((result) => result.section === section && result.test === test)) continue;
    faults.push(`listed as a deviation, but no case of h2spec: ${section} ${test}`);
  }
  return faults;
}

function failuresOf(output: string): string {
  const from = output.indexOf('Failures:');
  return from < 0 ? output.slice(-2_000) : output.slice(from);
}

function plain(text: string): string {
  return text
    .replace(/&#34;|&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');
}
