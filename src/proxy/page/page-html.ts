import { type Markup, markup } from '../../base/markup.js';
import type { ServerState, Verdict } from './page-state.js';

export interface PageContent {
  readonly server: string;
  readonly atMs: number;
  readonly verdict: Verdict;
  readonly servers: readonly ServerState[];
}

/** The files that the page may refer to; a file that was not built is not referred to. */
export interface PageFiles {
  has(name: string): boolean;
}

const MAY: Readonly<Record<Verdict['may'], string>> = {
  yes: 'Yes: the next server may be replaced',
  no: 'No: do not replace a server now',
  unknown: 'Not known whether a server may be replaced',
};

/** Returns the page: the verdict and the servers as plain HTML, which the script replaces. Nothing in it is a script. */
export function pageHtml({ server, atMs, verdict, servers }: PageContent, files: PageFiles): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Straddle at ${server}</title>
${files.has('icon.svg') ? markup`<link rel="icon" href="assets/icon.svg" type="image/svg+xml">` : undefined}
${files.has('app.css') ? markup`<link rel="stylesheet" href="assets/app.css">` : undefined}
${files.has('app.js') ? markup`<script type="module" src="assets/app.js" defer></script>` : undefined}
</head>
<body>
<div id="app"></div>
<main id="verdict" data-may="${verdict.may}">
<h1>${MAY[verdict.may]}</h1>
<p>${verdict.sentence}.</p>
<h2>Reasons</h2>
<ul>
${verdict.reasons.map(reasonItem)}
</ul>
<h2>Servers</h2>
${serverTable(servers)}
<p>As the Straddle of ${server} knew it at <time datetime="${isoTime(atMs)}">${isoTime(atMs)}</time>. Load the page again for
the present state.</p>
</main>
</body>
</html>
`.text;
}

function reasonItem({ id, text, remedy, isCommand }: Verdict['reasons'][number]): Markup {
  const next = remedy === null ? undefined : isCommand ? markup` <code>${remedy}</code>` : markup` ${remedy}`;
  return markup`<li><strong>${id}</strong>: ${text}.${next}</li>
`;
}

function serverTable(servers: readonly ServerState[]): Markup {
  return markup`<table>
<thead><tr><th scope="col">Server</th><th scope="col">Version</th><th scope="col">State</th><th scope="col">Passthrough</th>
<th scope="col">Lease renewed</th><th scope="col">APIs confirmed</th><th scope="col">Certificate until</th></tr></thead>
<tbody>
${servers.map(serverRow)}</tbody>
</table>`;
}

function serverRow(server: ServerState): Markup {
  const { name, isThis, state, detail, passthrough } = server;
  return markup`<tr><th scope="row">${name}${isThis ? ' (this one)' : ''}</th><td>${versionText(server)}</td>
<td>${state}${detail === '' ? '' : `: ${detail}`}</td><td>${passthrough === null ? 'not known' : passthrough ? 'on' : 'off'}</td>
<td>${timeText(server.leaseRenewedAtMs)}</td><td>${timeText(server.surfaceAtMs)}</td>
<td>${timeText(server.certificateExpiresAtMs)}</td></tr>
`;
}

function versionText({ version, emulatedVersion }: ServerState): string {
  if (version === null) return 'not read';
  return emulatedVersion === null ? version : `${version}, as ${emulatedVersion}`;
}

function timeText(atMs: number | null): string {
  return atMs === null ? 'not known' : isoTime(atMs);
}

/** Returns a time to the second. */
function isoTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
