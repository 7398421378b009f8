import { breakLines } from '../../base/break-lines.js';
import { printableLine } from '../../base/printable.js';
import { inTone } from '../../base/terminal-colors.js';
import type { ClientView, DiffReport, VersionChange } from './diff-report.js';
import { diffTable } from './diff-table.js';
import { notesText, PLAIN_LOOK, sentenceText, type TextLook } from './text-look.js';

/** Names in one sentence of the short form; `-o wide` and the other forms have all names. */
const NAMES_SHOWN_MAX = 5;
const CHANGES_SHOWN_MAX = 40;
/** Width of the page in pipes and files. */
const WIDTH_DEFAULT = 100;

type Page = TextLook & { readonly width: number };

/** Returns the table of what is not served alike, and below it only what the table does not show. */
export function diffText(report: DiffReport, wide: boolean, given: TextLook = PLAIN_LOOK): string {
  const look = pageOf(given);
  const { servers, resources, common, changes, clients, stored, notes } = report;
  const parts = [
    resources.length > 0 ? diffTable(report, wide, look) : '',
    resources.length === 0 || common > 0 ? sentenceText(commonText(servers, common), look) : '',
    changes.map((change) => sentenceText(countText(change), look)).join(''),
    servers.length > 1 ? clientsText(clients, wide, look) : '',
    stored
      .map(({ storedIn, resource, servers: those, why }) =>
        sentenceText(`Stored in ${storedIn}: ${resource}, a problem for ${those.join(', ')}: ${why}.`, look, 'harm'),
      )
      .join(''),
    notesText(notes, look),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function commonText(servers: DiffReport['servers'], common: number): string {
  if (servers.length > 1)
    return `${common} resources and subresources are served alike by all ${servers.length} servers.`;
  return `Only ${servers[0]?.name} answered: it serves ${common} resources and subresources, and there is nothing to compare them with.`;
}

/** Returns what one version has and another lacks, a line for each resource with its subresources. */
export function changeText(change: VersionChange, wide: boolean, given: TextLook = PLAIN_LOOK): string {
  const look = pageOf(given);
  const items = [
    ...withSubresources(change.added).map((names) => itemText('+', names, look)),
    ...withSubresources(change.removed).map((names) => itemText('-', names, look)),
  ];
  const shown = wide ? items : items.slice(0, CHANGES_SHOWN_MAX);
  const more = items.length - shown.length;
  const rest = more > 0 ? `  … ${more} more, see -o wide\n` : '';
  return `${sentenceText(countText(change), look)}${shown.join('')}${rest}`;
}

function pageOf({ colors, width }: TextLook): Page {
  return { colors, width: width ?? WIDTH_DEFAULT };
}

function countText({ from, to, added, removed }: VersionChange): string {
  return `From ${from} to ${to}: ${added.length} added, ${removed.length} removed.`;
}

/** Puts `pods.v1/resize` behind `pods.v1`, as `/resize`. The names are in order. */
function withSubresources(names: readonly string[]): string[][] {
  const found: string[][] = [];
  let resource = '';
  for (const name of names) {
    if (resource !== '' && name.startsWith(`${resource}/`)) found.at(-1)!.push(name.slice(resource.length));
    else {
      found.push([name]);
      resource = name.includes('/') ? '' : name.split(' ', 1)[0]!;
    }
  }
  return found;
}

function itemText(sign: '+' | '-', names: readonly string[], { colors, width }: Page): string {
  const words = names.map((name, index) => `${printableLine(name)}${index < names.length - 1 ? ',' : ''}`);
  return breakLines(words, width - 6)
    .map((line, index) => `${index === 0 ? `  ${sign} ` : '      '}${line}`)
    .map((line) => `${inTone(sign === '+' ? 'good' : 'harm', line, colors)}\n`)
    .join('');
}

/** One sentence for all servers whose clients are in the same position. */
function clientsText(clients: readonly ClientView[], wide: boolean, look: TextLook): string {
  const alike = new Map<string, ClientView[]>();
  for (const client of clients) {
    const key = JSON.stringify([client.missing, client.uncovered]);
    alike.set(key, [...(alike.get(key) ?? []), client]);
  }
  return [...alike.values()].map((those) => clientText(those, wide, look)).join('');
}

function clientText(those: readonly ClientView[], wide: boolean, look: TextLook): string {
  const { missing, uncovered } = those[0]!;
  const who = `${those.length === 1 ? 'A client' : 'Clients'} of ${some(
    those.map(({ server }) => server),
    wide,
  )}`;
  const miss = those.length === 1 ? 'misses' : 'miss';
  const serve = those.length === 1 ? 'it does not serve' : 'they do not serve';
  const proxy = those.length === 1 ? 'its proxy makes' : 'their proxies make';
  if (missing.length === 0) return sentenceText(`${who} ${miss} nothing.`, look);
  const lacks = `${missing.length === 1 ? 'what' : `the ${missing.length} that`} ${serve}`;
  if (uncovered === null) {
    return sentenceText(`${who} may miss ${lacks}: whether ${proxy} up for that is not known.`, look, 'doubt');
  }
  if (uncovered.length === 0) {
    return sentenceText(`${who} ${miss} nothing: ${proxy} up for ${lacks}.`, look, 'good');
  }
  const covered = missing.length - uncovered.length;
  const rest = covered > 0 ? `; ${proxy} up for ${covered} more` : '';
  return sentenceText(`${who} ${miss} ${some(uncovered, wide)}${rest}.`, look, 'harm');
}

function some(names: readonly string[], wide: boolean): string {
  const shown = wide ? names : names.slice(0, NAMES_SHOWN_MAX);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
