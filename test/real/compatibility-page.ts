import type { Native, RunRecord, ScenarioResult } from './record.js';
import type { Client } from './scenario.js';

const CLIENTS: readonly Client['name'][] = ['kubectl', 'client-go informers', '@kubernetes/client-node'];
const NATIVES: readonly Native[] = ['off', 'on', 'on in some'];
const NOT_RUN = 'not run';
const DAY_LENGTH = '2026-11-18'.length;

/** A result and the day it is from. */
interface Dated extends ScenarioResult {
  readonly date: string;
}

/** All that was run on the same three servers, in one run or several. */
interface ServersRun {
  readonly servers: RunRecord['servers'];
  /** By number; where a scenario was run more than once, the last result. */
  readonly results: readonly Dated[];
}

const HEAD = `# Compatibility

Made by \`npm run compatibility\` from \`test/real/results\`, which \`npm run test:real -- --record=<file>\` writes: do not edit. Servers are
real kube-apiservers on one etcd, each behind a Straddle; A lacks APIs that B and C serve. [real-rig.md](real-rig.md) has the rig. A cell
says what was really run, and nothing of what was not.
`;

/** `docs/compatibility.md`, from the records of runs. */
export function compatibilityPage(records: readonly RunRecord[]): string {
  const runs = joined(records);
  const sections = [HEAD, summary(runs), clientTable(runs), whatWasRun(runs), skipped(runs)];
  return sections.filter((section) => section !== '').join('\n');
}

/** The runs on the same servers as one, oldest servers first. */
function joined(records: readonly RunRecord[]): ServersRun[] {
  const byServers = new Map<string, RunRecord[]>();
  for (const record of [...records].sort((left, right) => compareText(left.date, right.date))) {
    const key = titleOf(record.servers);
    byServers.set(key, [...(byServers.get(key) ?? []), record]);
  }
  return [...byServers.entries()]
    .sort(([left], [right]) => left.localeCompare(right, 'en', { numeric: true }))
    .map(([, ofServers]) => {
      const latest = new Map<number, Dated>();
      for (const { date, scenarios } of ofServers) {
        for (const result of scenarios) latest.set(result.number, { ...result, date: date.slice(0, DAY_LENGTH) });
      }
      return { servers: ofServers[0]!.servers, results: [...latest.values()].sort((a, b) => a.number - b.number) };
    });
}

function titleOf({ a, b, c }: RunRecord['servers']): string {
  const [older, second, third] = [a, b, c].map((version) => version.replace(/^v/, ''));
  return second === third ? `A ${older}, B and C ${second}` : `A ${older}, B ${second}, C ${third}`;
}

function summary(runs: readonly ServersRun[]): string {
  const rows = runs.map(({ servers, results }) => {
    const count = (word: ScenarioResult['result']): string =>
      String(results.filter(({ result }) => result === word).length);
    const native = NATIVES.map((each) => String(results.filter((result) => result.native.includes(each)).length));
    return [titleOf(servers), count('passed'), count('failed'), count('skipped'), ...native, datesOf(results)];
  });
  const head = ['servers', 'passed', 'failed', 'skipped', ...NATIVES.map((each) => `native feature ${each}`), 'date'];
  return `## Scenarios

The last columns but one count the scenarios that ran with kube-apiserver's own mixed version proxy off in all servers, on in all,
and on in some. A scenario can do more than one of these, or start servers of its own.

${table(head, rows)}`;
}

/** The columns are the clients that any run has had. */
function clientTable(runs: readonly ServersRun[]): string {
  const columns = clientsOf(runs);
  const rows = runs.flatMap(({ servers, results }) =>
    NATIVES.flatMap((native) => {
      const cells = columns.map((client) => cell(results, client, native));
      const dates = datesOf(results.filter((result) => result.clients.some((each) => each.native === native)));
      return cells.every((each) => each === NOT_RUN) ? [] : [[titleOf(servers), native, ...cells, dates]];
    }),
  );
  const head = ['servers', 'native feature', ...columns.map(({ name, version }) => `${name} ${version}`), 'date'];
  return `## Clients

Each client was pointed at the Straddle of A and used APIs that only B and C serve. The numbers are those of the scenarios that it did
its part in, and that passed.

${table(head, rows)}`;
}

function clientsOf(runs: readonly ServersRun[]): Client[] {
  const all = runs.flatMap(({ results }) => results.flatMap(({ clients }) => clients));
  const byName = new Map(all.map(({ name, version }) => [`${name} ${version}`, { name, version }]));
  return [...byName.values()].sort(
    (left, right) =>
      CLIENTS.indexOf(left.name) - CLIENTS.indexOf(right.name) ||
      left.version.localeCompare(right.version, 'en', { numeric: true }),
  );
}

function cell(results: readonly Dated[], { name, version }: Client, native: Native): string {
  const withIt = results.filter(({ clients }) =>
    clients.some((each) => each.name === name && each.version === version && each.native === native),
  );
  const numbers = (word: ScenarioResult['result']): string =>
    withIt.flatMap(({ result, number }) => (result === word ? [number] : [])).join(', ');
  const failed = numbers('failed');
  const parts = [numbers('passed'), failed === '' ? '' : `failed: ${failed}`].filter((part) => part !== '');
  return parts.length === 0 ? NOT_RUN : parts.join('; ');
}

function whatWasRun(runs: readonly ServersRun[]): string {
  const names = new Map(runs.flatMap(({ results }) => results.map(({ number, name }) => [number, name] as const)));
  const words = { passed: 'passed', failed: '**failed**', skipped: 'skipped' } as const;
  const rows = [...names.entries()]
    .sort(([left], [right]) => left - right)
    .map(([number, name]) => {
      const cells = runs.map(({ results }) => {
        const found = results.find((each) => each.number === number);
        return found === undefined ? NOT_RUN : words[found.result];
      });
      return [String(number), name.replaceAll('|', '\\|'), ...cells];
    });
  return `## What was run

${table(['number', 'scenario', ...runs.map(({ servers }) => titleOf(servers))], rows)}`;
}

function skipped(runs: readonly ServersRun[]): string {
  const lines = runs.flatMap(({ servers, results }) =>
    results.flatMap(({ result, number, reason }) =>
      result === 'skipped' ? [`- ${number} with ${titleOf(servers)}: ${reason}\n`] : [],
    ),
  );
  return lines.length === 0 ? '' : `## What was skipped, and why\n\n${lines.join('')}`;
}

function datesOf(results: readonly Dated[]): string {
  return [...new Set(results.map(({ date }) => date))].sort(compareText).join(', ');
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return `${line(head)}${line(head.map(() => '---'))}${rows.map(line).join('')}`;
}
