import { readFileSync } from 'node:fs';
import { Markup, markup } from '../../../base/markup.js';
import type { Example, ExecResult, HalfResult, RehearsalResult } from '../rehearsal-result.js';
import { useText } from './difference-lines.js';
import { type FindingCell, findingRows, type Standing } from './finding-rows.js';
import { sentenceCase, timelineSection } from './html-timeline.js';
import { type StepCell, stepRows } from './step-rows.js';
import { verdictOf } from './verdict.js';
import { clockText, countText, durationText, EXAMPLE_TITLES, halfName, isQuiet, momentText, plural } from './words.js';

const MARKS: Readonly<Record<Standing, string>> = { harm: '✗', notice: '!', clean: '✓', figure: '' };
/** Words for screen readers, which do not read the marks. */
const SPOKEN: Readonly<Record<Standing, string>> = { harm: 'harm', notice: 'worth a look', clean: 'clean', figure: '' };

/** Allows neither scripts nor anything from elsewhere, in case text is ever rendered as markup. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Returns the report as one page that loads nothing: no script, no font, no picture. */
export function htmlReport(result: RehearsalResult): string {
  const style = readFileSync(new URL('html-style.css', import.meta.url), 'utf8');
  const { from, to, halves } = result;
  const title = `Upgrade rehearsal ${from} → ${to}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
<meta name="generator" content="straddle rehearse">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body><main>
${header(result)}
${differencesSection(result)}
${findingsSection(result)}
${halves.length === 0 ? undefined : [timelineSection(halves, result), stepsSection(halves), examplesSection(halves), execSection(halves)]}
${settingsSection(result)}
${wordsSection(result)}
<footer>Made by <code>straddle rehearse</code>. Times count from the start of each half.</footer>
</main></body>
</html>
`.text;
}

function header(result: RehearsalResult): Markup {
  const { from, to, servers, made, startedAt, halves } = result;
  const duration = halves.reduce((total, { durationMs }) => total + durationMs, 0);
  const requests = halves.reduce((total, { findings }) => total + findings.requests, 0);
  return markup`<header>
<div class="over">Upgrade rehearsal</div>
<h1>Kubernetes ${from} → ${to}, and back</h1>
<ul class="facts"><li>${plural(servers, 'server')}: ${made}</li><li><time datetime="${startedAt}">${momentText(startedAt)}</time></li><li>${durationText(duration)} under load</li><li>${plural(requests, 'request')}</li></ul>
${verdict(result)}
</header>`;
}

const ICONS = {
  good: markup`<circle cx="17" cy="17" r="14.5"/><path d="M10.5 17.5l4.5 4.5 8.5-9.5"/>`,
  harm: markup`<circle cx="17" cy="17" r="14.5"/><path d="M12 12l10 10M22 12L12 22"/>`,
  open: markup`<path d="M17 4L31.5 29.5H2.5Z"/><path d="M17 13v8M17 25.4v.1"/>`,
};

function verdict(result: RehearsalResult): Markup {
  const { tone, headline, sentence } = verdictOf(result);
  return markup`<div class="verdict ${tone}"><svg viewBox="0 0 34 34" aria-hidden="true">${ICONS[tone]}</svg><div><strong>${headline}</strong><p>${sentence}</p></div></div>`;
}

function differencesSection({ from, to, differences, notes }: RehearsalResult): Markup | undefined {
  if (differences.length === 0) return undefined;
  return markup`<section aria-labelledby="differs"><h2 id="differs">What differs</h2>
<div class="scroll"><table class="differences"><caption>Everything that only one of ${from} and ${to} serves, and what was done with it.</caption>
<thead><tr><th scope="col">Resource</th><th scope="col">Only in</th><th scope="col">Exercised by</th></tr></thead>
<tbody>
${differences.map(
  (
    use,
  ) => markup`<tr><th scope="row"><code>${use.name}</code></th><td data-label="only in">${use.servedBy}</td><td${use.exercises.length > 0 ? markup` data-label="exercised by"` : undefined}>${useText(use)}</td></tr>
`,
)}</tbody></table></div>${notes.map((note) => markup`<p class="lead">${note}</p>`)}</section>`;
}

function findingsSection(result: RehearsalResult): Markup | undefined {
  if (result.halves.length === 0) return undefined;
  return markup`<section aria-labelledby="found"><h2 id="found">What was found</h2>
<div class="scroll"><table class="findings"><caption>The same upgrade and rollback, under the same load${result.halves.length === 2 ? ', without and with the mixed version proxy' : ''}.</caption>
<thead><tr><th scope="col">Finding</th>${result.halves.map(({ proxy }) => markup`<th scope="col">${sentenceCase(halfName(proxy))}</th>`)}</tr></thead>
<tbody>
${findingRows(result).map(
  ({
    title,
    meaning,
    cells,
  }) => markup`<tr><th scope="row"><b>${title}</b><span class="meaning">${meaning}</span></th>${cells.map((cell, index) => findingCell(cell, halfName(result.halves[index]!.proxy)))}</tr>
`,
)}</tbody></table></div></section>`;
}

function findingCell({ text, standing, added }: FindingCell, half: string): Markup {
  const mark = markup`<i${SPOKEN[standing] === '' ? markup` aria-hidden="true"` : markup` role="img" aria-label="${SPOKEN[standing]}"`}>${MARKS[standing]}</i>`;
  return markup`<td class="figure ${standing}" data-half="${half}">${mark}${text}${added === undefined ? undefined : markup`<small><i></i>${added} against proxy off</small>`}</td>`;
}

function stepsSection(halves: readonly HalfResult[]): Markup {
  return markup`<section aria-labelledby="steps"><h2 id="steps">Steps</h2>
<div class="scroll"><table class="steps"><caption>What was done when, and what clients met meanwhile.</caption>
<thead><tr><th scope="col"><span aria-label="Number">#</span></th><th scope="col">Step</th>${halves.map(({ proxy }) => markup`<th scope="col">${sentenceCase(halfName(proxy))}</th>`)}</tr></thead>
<tbody>
${stepRows(halves).map(
  (
    row,
    index,
  ) => markup`<tr${isQuiet(row) ? markup` class="hold"` : undefined}><td class="number">${index + 1}</td><th scope="row">${row.name}</th>${row.cells.map((cell, half) => markup`<td data-half="${halfName(halves[half]!.proxy)}">${stepCell(cell)}</td>`)}</tr>
`,
)}</tbody></table></div></section>
`;
}

function stepCell(cell: StepCell | undefined): Markup {
  if (cell === undefined) return markup`–`;
  const { step, wrong404s, unavailable503s, discoveryFlaps } = cell;
  const met = [
    wrong404s > 0 ? markup` &nbsp;<b>${plural(wrong404s, 'wrong 404')}</b>` : undefined,
    discoveryFlaps > 0 ? markup` &nbsp;<b>${plural(discoveryFlaps, 'flap')}</b>` : undefined,
    unavailable503s > 0 ? markup` &nbsp;${unavailable503s} × 503` : undefined,
  ];
  return markup`${clockText(step.beginMs)}–${clockText(step.endMs)}${met}`;
}

function examplesSection(halves: readonly HalfResult[]): Markup | undefined {
  if (halves.every(({ examples }) => examples.length === 0)) return undefined;
  return markup`<section aria-labelledby="examples"><h2 id="examples">Examples</h2>
<p class="lead">The first few of each kind.</p>
<div class="examples">
${halves.map(
  ({ proxy, examples }) => markup`<div><h3>${sentenceCase(halfName(proxy))}</h3>${
    examples.length === 0
      ? markup`<p class="lead">None.</p>`
      : Object.entries(EXAMPLE_TITLES).map(([kind, title]) =>
          examplesOf(
            title,
            examples.filter((each) => each.kind === kind),
          ),
        )
  }</div>
`,
)}</div></section>
`;
}

function examplesOf(title: string, examples: readonly Example[]): Markup | undefined {
  if (examples.length === 0) return undefined;
  return markup`<h4>${title}</h4><ul>${examples.map(({ atMs, text }) => markup`<li><time>${clockText(atMs)}</time><code>${text}</code></li>`)}</ul>`;
}

function execSection(halves: readonly HalfResult[]): Markup | undefined {
  if (halves.every(({ exec }) => exec.length === 0)) return undefined;
  return markup`<section aria-labelledby="own"><h2 id="own">Own program</h2>
<p class="lead">Runs of <code>--exec</code>; of those that failed, the last lines of what they said.</p>
<div class="examples">
${halves.map(
  ({ proxy, exec }) => markup`<div><h3>${sentenceCase(halfName(proxy))}</h3>${exec.map(execRun)}</div>
`,
)}</div></section>
`;
}

function execRun({ beginMs, endMs, exitCode, output }: ExecResult): Markup {
  const outcome =
    exitCode === 0
      ? markup`<span class="figure clean">✓</span> passed`
      : markup`<span class="figure harm">✗</span> exit code ${exitCode}`;
  return markup`<p>${clockText(beginMs)}–${clockText(endMs)} ${outcome}</p>${exitCode === 0 ? undefined : markup`<pre>${output}</pre>`}`;
}

function settingsSection({ from, to, servers, made, settings, halves }: RehearsalResult): Markup {
  const { secondsPerStep, settleSeconds, requestsPerSecond, clients, controllers, skewed, manifests, exec } = settings;
  const rows: readonly (readonly [string, string])[] = [
    ['Versions', `${from} → ${to} → ${from}`],
    ['Servers', `${plural(servers, 'server')}: ${made}`],
    ['Halves', halves.map(({ proxy }) => halfName(proxy)).join(', ') || 'none was completed'],
    ['Load', `${plural(requestsPerSecond, 'request')} a second by ${plural(clients, 'client')}`],
    ['Between two steps', durationText(secondsPerStep * 1_000)],
    ['Wait for deletions', `up to ${durationText(settleSeconds * 1_000)}`],
    [
      'Controllers',
      controllers === 'plain' ? 'plain controllers of the rehearsal' : 'others than those of the rehearsal',
    ],
    ['Exercised', skewed ?? 'everything that differs and can be'],
    ['Own objects', manifests === 0 ? 'none' : countText(manifests)],
    ['Own program', exec ? 'yes (--exec)' : 'none'],
  ];
  return markup`<section aria-labelledby="settings"><h2 id="settings">Settings</h2>
<dl>
${rows.map(
  ([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>
`,
)}</dl></section>
`;
}

function wordsSection({ from, to }: RehearsalResult): Markup {
  return markup`<section aria-labelledby="words"><h2 id="words">How to read this</h2>
<dl>
<dt>What was rehearsed</dt><dd>All servers begin with ${from}; one after the other is replaced by one with ${to}, then all go back, while clients list, get, create, watch and read discovery at the load balancer, and namespaces and owners are deleted. Some of it concerns what only ${to} serves: these resources are under “What differs”.</dd>
<dt>Proxy off</dt><dd>Each server answers for itself. A request that the load balancer gives to a server that does not know the resource gets a 404.</dd>
<dt>Proxy on</dt><dd>The mixed version proxy carries such a request to a server that serves it, and shows the same complete discovery everywhere. Where nobody can serve it at the moment the answer is 503, never a wrong 404.</dd>
<dt>Plain controllers</dt><dd>A namespace and a garbage collecting controller that believe what they are told, as those in the field do: they run at the load balancer in both halves and show what a wrong 404 leads to.</dd>
<dt>Must be 0 with the proxy on</dt><dd>Wrong 404s, objects deleted by mistake, namespaces ended too early or stuck, discovery flaps. 503s, broken watches and cut connections are noticed too, but clients are made to cope with these.</dd>
</dl></section>
`;
}
