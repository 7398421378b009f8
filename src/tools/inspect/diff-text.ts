import { columns, notesText } from './columns.js';
import type { ClientView, DiffReport, VersionChange } from './diff-report.js';

/** Names in one line of the short form; `-o wide` and the other forms have all names. */
const NAMES_SHOWN_MAX = 5;
const CHANGES_SHOWN_MAX = 40;

export function diffText(report: DiffReport, wide: boolean): string {
  const { servers, resources, common, changes, clients, stored, notes } = report;
  const parts: string[] = [];
  if (resources.length > 0) {
    const heads = ['RESOURCE', ...servers.map(({ name, version }) => `${name.toUpperCase()} (${version || '?'})`)];
    const rows = resources.map(({ name, servedBy }) => {
      const verbs = [...new Set(servers.flatMap((each) => servedBy[each.name] ?? []))];
      return [name, ...servers.map((each) => cell(servedBy[each.name] ?? null, verbs, wide))];
    });
    parts.push(columns([heads, ...rows]));
  }
  parts.push(
    resources.length === 0 || common > 0
      ? `${common} resources and subresources are served alike by all ${servers.length} servers.\n`
      : '',
    ...changes.map((change) => changeText(change, wide)),
    clients.map((client) => clientText(client, wide)).join(''),
    stored
      .map(
        (each) =>
          `Stored in ${each.storedIn}: ${each.resource}, a problem for ${each.servers.join(', ')}: ${each.why}.\n`,
      )
      .join(''),
    notesText(notes),
  );
  return parts.filter((part) => part !== '').join('\n');
}

/** Returns `yes` if no verb is lacking, else the lacking verbs. */
function cell(served: readonly string[] | null, verbs: readonly string[], wide: boolean): string {
  if (served === null) return '-';
  if (wide) return served.join(',');
  const lacking = verbs.filter((verb) => !served.includes(verb));
  return lacking.length === 0 ? 'yes' : `no ${lacking.join(',')}`;
}

export function changeText({ from, to, added, removed }: VersionChange, wide: boolean): string {
  const lines = [...added.map((name) => `  + ${name}\n`), ...removed.map((name) => `  - ${name}\n`)];
  const shown = wide ? lines : lines.slice(0, CHANGES_SHOWN_MAX);
  const more = lines.length - shown.length;
  const rest = more > 0 ? `  … ${more} more, see -o wide\n` : '';
  return `From ${from} to ${to}: ${added.length} added, ${removed.length} removed.\n${shown.join('')}${rest}`;
}

function clientText({ server, missing, uncovered }: ClientView, wide: boolean): string {
  if (missing.length === 0) return `A client of ${server} misses nothing.\n`;
  const names = wide ? missing : missing.slice(0, NAMES_SHOWN_MAX);
  const more = missing.length - names.length;
  const what = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  if (uncovered === null) return `A client of ${server} may miss ${what}.\n`;
  if (uncovered.length === 0) return `A client of ${server} misses nothing: its proxy makes up for ${what}.\n`;
  const some = uncovered.slice(0, wide ? undefined : NAMES_SHOWN_MAX);
  const rest = uncovered.length - some.length;
  return `A client of ${server} misses ${some.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.\n`;
}
