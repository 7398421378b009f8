import { useState } from 'preact/hooks';
import type { Flow, FlowRow } from '../../src/proxy/page/page-state.js';
import { memo } from '../parts/memo.js';
import { ScrollBox } from '../parts/scroll-box.js';
import { Section } from '../parts/section.js';
import { clockText, countText, millisecondsText, momentText, plural } from '../words.js';
import { chosenRows, FLOW_CHOICES, type FlowChoice, RATES } from './flow-rows.js';
import { RatesChart } from './rates-chart.js';

const CHOICE_WORDS: Readonly<Record<FlowChoice, string>> = {
  all: 'All',
  rerouted: 'Rerouted',
  held: 'Held',
  failed: 'Status ≥ 400',
};

const KIND_WORDS: Readonly<Record<FlowRow['kind'], string>> = {
  local: '→',
  rerouted: '⤳',
  held: '∥',
  own: '·',
};

export function FlowView({ flow }: { readonly flow: Flow }) {
  const [choice, setChoice] = useState<FlowChoice>('all');
  const [paused, setPaused] = useState<Flow | undefined>(undefined);
  const { recent } = paused ?? flow;
  const rows = chosenRows(recent, choice);
  const newer = paused === undefined ? 0 : flow.totals.requests - paused.totals.requests;
  return (
    <Section id="flow" title="Live flow" lead={`${plural(flow.totals.requests, 'request')} since the start`}>
      <div class="rates">
        <ul class="legend totals" aria-label="Counts since the start">
          {RATES.map(({ key, label }, index) => (
            <li key={key}>
              <Line index={index} /> {label} <b>{countText(flow.totals[key])}</b>
            </li>
          ))}
        </ul>
        <RatesChart flow={flow} />
      </div>
      <div class="filters">
        <fieldset class="choices">
          <legend class="hidden">Requests to show</legend>
          {FLOW_CHOICES.map((each) => (
            <label key={each} class={each === choice ? 'chosen' : ''}>
              <input type="radio" name="flow-choice" checked={each === choice} onChange={() => setChoice(each)} />
              {CHOICE_WORDS[each]}
            </label>
          ))}
        </fieldset>
        <button
          type="button"
          class="pause"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? flow : undefined)}
        >
          {paused === undefined ? 'Pause' : 'Continue'}
        </button>
        {paused !== undefined && (
          <span class="quiet shown">
            {newer <= 0 ? 'Paused, nothing newer' : `Paused, ${plural(newer, 'newer request')}`}
          </span>
        )}
      </div>
      {rows.length === 0 ? (
        <p class="empty">{recent.length === 0 ? 'No request has arrived yet.' : 'None of the last requests.'}</p>
      ) : (
        <ScrollBox label="Last requests" class="flow-box">
          <table class="flow">
            <caption class="hidden">The last requests, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Verb</th>
                <th scope="col">Resource</th>
                <th scope="col">Arrived at → answered by</th>
                <th scope="col">Rule of the route</th>
                <th scope="col" class="number">
                  Status
                </th>
                <th scope="col" class="number">
                  ms
                </th>
                <th scope="col">User agent</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <FlowLine key={row.id} row={row} />
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
      {flow.left > 0 && (
        <p class="left">{plural(flow.left, 'request was', 'requests were')} counted, but not recorded one by one.</p>
      )}
    </Section>
  );
}

function Line({ index }: { readonly index: number }) {
  return (
    <svg class={`line-key series-${index}`} viewBox="0 0 26 8" aria-hidden="true" data-series={index}>
      <path d="M1 4H25" strokeDasharray={RATES[index]!.dash.join(' ')} />
    </svg>
  );
}

const FlowLine = memo(({ row }: { readonly row: FlowRow }) => {
  const { arrivedAt, answeredBy, status, kind } = row;
  return (
    <tr class={`kind-${kind}`}>
      <td data-label="Time">
        <time dateTime={momentText(row.atMs)} title={momentText(row.atMs)}>
          {clockText(row.atMs)}
        </time>
      </td>
      <td data-label="Verb">{row.verb}</td>
      <td data-label="Resource" class="resource" title={row.resource}>
        {row.resource}
      </td>
      <td data-label="Way" class="way">
        {arrivedAt} <span aria-hidden="true">{KIND_WORDS[kind]}</span>
        <span class="hidden"> answered by </span> {answeredBy ?? 'Straddle'}
        {kind !== 'local' && <span class={`badge ${kind}`}>{kind === 'own' ? 'itself' : kind}</span>}
      </td>
      <td data-label="Rule" class="why" title={row.why}>
        {row.why === '' ? <span class="quiet">–</span> : row.why}
      </td>
      <td data-label="Status" class={status >= 500 ? 'number bad' : status >= 400 ? 'number warn' : 'number'}>
        {status}
      </td>
      <td data-label="ms" class="number">
        {millisecondsText(row.ms)}
      </td>
      <td data-label="User agent" class="agent" title={row.userAgent}>
        {row.userAgent}
      </td>
    </tr>
  );
});
