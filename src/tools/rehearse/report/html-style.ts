/** Light by default and on paper, dark where the reader's system is. Only system fonts: the file must ask for nothing. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #faf9f7; --panel: #ffffff; --text: #20242b; --quiet: #5b6370; --line: #e4e1db; --band: #eeebe4; --ribbon: #dcd7cb;
  --good: #17713f; --good-back: #eef6f0; --good-line: #bcdcc7;
  --harm: #b3261e; --harm-back: #fcf0ee; --harm-line: #ecc5c0;
  --notice: #8f5b00; --notice-back: #fbf4e4; --notice-line: #e6d3a6;
  --flap: #6b46a8; --p: #1f5fa8;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --panel: #1b1f26; --text: #e5e8ec; --quiet: #a0a9b6; --line: #2d333d; --band: #242a33; --ribbon: #363e4a;
    --good: #74cf9a; --good-back: #17261e; --good-line: #2b4a39;
    --harm: #f5958c; --harm-back: #2c1c1c; --harm-line: #573431;
    --notice: #e2b65b; --notice-back: #29231a; --notice-line: #51432a;
    --flap: #bba1ee; --p: #86b7f5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1180px; margin: 0 auto; padding: 44px 32px 56px; }
h1 { margin: 2px 0 4px; font-size: 30px; line-height: 1.2; font-weight: 650; letter-spacing: -.01em; }
h2 { margin: 52px 0 6px; font-size: 20px; font-weight: 650; }
h3 { margin: 0; font-size: 15px; font-weight: 650; }
p { margin: 0; max-width: 96ch; }
.over { color: var(--quiet); font-size: 13px; letter-spacing: .06em; text-transform: uppercase; }
.lead, footer, .meaning, .facts { color: var(--quiet); }
.facts { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 0; padding: 0; list-style: none; font-size: 14px; }
.verdict { display: flex; gap: 18px; margin: 26px 0 0; padding: 20px 24px; border: 1px solid var(--edge); border-radius: 10px; background: var(--back); }
.verdict.good { --ink: var(--good); --back: var(--good-back); --edge: var(--good-line); }
.verdict.harm { --ink: var(--harm); --back: var(--harm-back); --edge: var(--harm-line); }
.verdict.open { --ink: var(--notice); --back: var(--notice-back); --edge: var(--notice-line); }
.verdict svg { flex: none; width: 34px; height: 34px; margin-top: 2px; fill: none; stroke: var(--ink); stroke-width: 2.4; stroke-linecap: round; stroke-linejoin: round; }
.verdict strong { display: block; color: var(--ink); font-size: 20px; line-height: 1.35; font-weight: 650; }
.verdict p { font-size: 16px; }
.scroll { overflow-x: auto; }
table { width: 100%; margin-top: 2px; border-collapse: collapse; background: var(--panel); border: 1px solid var(--line); }
caption { padding: 0 0 8px; text-align: left; color: var(--quiet); }
th, td { padding: 9px 16px; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
thead th { border-top: 0; color: var(--quiet); font-size: 13px; font-weight: 600; white-space: nowrap; }
.findings tbody th { width: 62%; }
.findings tbody th b { font-weight: 600; }
.meaning { display: block; font-size: 13.5px; }
.figure { font-size: 17px; white-space: nowrap; }
.figure small { display: block; font-size: 13px; color: var(--quiet); }
.figure i { display: inline-block; width: 1.35em; font-style: normal; }
.figure.harm { color: var(--harm); font-weight: 650; }
.figure.notice { color: var(--notice); }
.figure.clean { color: var(--good); }
.steps td, .steps th { padding: 6px 16px; }
.steps td { white-space: nowrap; }
.steps .hold > * { color: var(--quiet); }
.steps td.number { width: 1%; text-align: right; color: var(--quiet); }
.steps b { font-weight: 600; color: var(--harm); }
.plots { display: grid; gap: 14px 28px; margin-top: 18px; padding: 20px 20px 12px; background: var(--panel); border: 1px solid var(--line); }
.columns-1 { grid-template-columns: minmax(0, 640px); }
.columns-2 { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.plots svg { display: block; width: 100%; height: auto; }
.plots .half { padding-left: 8.57%; font-size: 16px; }
figure { margin: 0; break-inside: avoid; }
figcaption { display: flex; flex-wrap: wrap; gap: 0 6px; padding-left: 8.57%; font-size: 13.5px; color: var(--quiet); }
figcaption b { color: var(--text); font-weight: 600; }
.plots .key { display: inline-flex; align-items: center; gap: 5px; margin-left: 8px; }
.plots .key svg { width: 24px; height: 8px; }
svg text { font-size: 11px; fill: var(--quiet); }
svg .grid line { stroke: var(--line); stroke-width: 1; }
svg .values text { text-anchor: end; }
svg .times text, svg .none, .ribbon text { text-anchor: middle; }
svg .none { font-size: 13px; fill: var(--good); }
svg .bands rect { fill: var(--band); }
.ribbon rect { fill: var(--ribbon); rx: 3px; }
.ribbon text { fill: var(--text); font-weight: 600; }
svg .harm rect { fill: var(--harm); }
svg .notice rect { fill: var(--notice); }
svg .flap rect { fill: var(--flap); }
svg .p50, svg .p99 { fill: none; stroke: var(--p); stroke-linecap: round; stroke-linejoin: round; }
svg .p50 { stroke-width: 2; }
svg .p99 { stroke-width: 1.4; stroke-dasharray: 1 3.2; }
.examples { display: grid; gap: 24px 28px; margin-top: 14px; }
.examples h4 { margin: 14px 0 4px; font-size: 14px; font-weight: 600; }
.examples ul { margin: 0; padding: 0; list-style: none; }
.examples li { display: grid; grid-template-columns: 3.6em 1fr; padding: 4px 0; border-top: 1px solid var(--line); font-size: 13.5px; }
time { color: var(--quiet); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 12.5px; overflow-wrap: anywhere; }
pre { margin: 6px 0 14px; padding: 10px 14px; white-space: pre-wrap; background: var(--panel); border: 1px solid var(--line); }
dl { display: grid; grid-template-columns: minmax(140px, auto) 1fr; gap: 8px 22px; margin: 14px 0 0; max-width: 100ch; }
dt { font-weight: 600; } dd { margin: 0; color: var(--quiet); }
footer { margin-top: 56px; padding-top: 14px; border-top: 1px solid var(--line); font-size: 13px; }
@media screen and (max-width: 760px) {
  main { padding: 24px 16px 40px; }
  .columns-2 { grid-template-columns: minmax(0, 1fr); }
  .plots .half { display: none; }
  .plots figcaption::after { content: '· ' attr(data-half); }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: 8px; }
  th, td { padding: 8px 10px; }
  .findings tbody th { width: 46%; }
  .figure small { white-space: normal; }
  .figure small i { display: none; }
}
@media print {
  @page { margin: 12mm; }
  body { font-size: 11px; background: none; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 22px; }
  h2 { margin-top: 20px; font-size: 15px; break-after: avoid; }
  h3, .plots .half { font-size: 12px; }
  th, td { padding: 4px 10px; }
  thead th, .facts, .meaning, .figure small, figcaption, .examples li, footer { font-size: 10px; }
  .figure, .verdict p, .examples h4 { font-size: 12px; }
  .verdict { margin-top: 14px; padding: 12px 16px; }
  .verdict strong { font-size: 15px; }
  code, pre { font-size: 9.5px; }
  .plots { gap: 8px 18px; padding: 12px; break-inside: avoid; }
  tr, li, .verdict { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
