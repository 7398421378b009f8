import { useMemo, useState } from 'preact/hooks';
import type { Skew, SkewCell } from '../../src/proxy/page/page-state.js';
import { useServerMs } from '../live/clock.js';
import { Section } from '../parts/section.js';
import { countText, plural } from '../words.js';
import { CELLS } from './skew-cells.js';
import { SkewGrid } from './skew-grid.js';
import { filteredRows, type SkewFilter } from './skew-rows.js';

const EVERYTHING: SkewFilter = { text: '', usedOnly: false, cell: 'any' };

export function SkewView({ skew }: { readonly skew: Skew }) {
  const [filter, setFilter] = useState(EVERYTHING);
  const now = useServerMs();
  // The hour moves on, but a row that leaves it a minute late harms nobody.
  const minute = filter.usedOnly ? Math.floor(now / 60_000) * 60_000 : 0;
  const rows = useMemo(() => filteredRows(skew.rows, filter, minute), [skew.rows, filter, minute]);
  const change = (changes: Partial<SkewFilter>) => setFilter({ ...filter, ...changes });
  return (
    <Section id="skew" title="Skew" lead={leadOf(skew)} tools={skew.rows.length > 0 && <Legend />}>
      {skew.rows.length === 0 ? (
        <p class="empty">No difference: every server serves the same resources.</p>
      ) : (
        <>
          <search class="filters">
            <label>
              <span>Filter</span>
              <input
                type="search"
                value={filter.text}
                placeholder="jobs batch"
                spellcheck={false}
                autocomplete="off"
                onInput={({ currentTarget }) => change({ text: currentTarget.value })}
              />
            </label>
            <label>
              <span>Has a cell</span>
              <select
                value={filter.cell}
                onChange={({ currentTarget }) => change({ cell: currentTarget.value as SkewFilter['cell'] })}
              >
                <option value="any">of any state</option>
                {Object.entries(CELLS).map(([cell, { word }]) => (
                  <option key={cell} value={cell}>
                    {word}
                  </option>
                ))}
              </select>
            </label>
            <label class="check">
              <input
                type="checkbox"
                checked={filter.usedOnly}
                onChange={({ currentTarget }) => change({ usedOnly: currentTarget.checked })}
              />
              <span>Used in the last hour</span>
            </label>
            <span class="quiet shown">
              {rows.length === skew.rows.length
                ? `${countText(rows.length)} shown`
                : `${countText(rows.length)} of ${countText(skew.rows.length)} shown`}
            </span>
          </search>
          {rows.length === 0 ? (
            <p class="empty">
              Nothing is left.{' '}
              <button type="button" class="link" onClick={() => setFilter(EVERYTHING)}>
                Show everything
              </button>
            </p>
          ) : (
            <SkewGrid servers={skew.servers} rows={rows} />
          )}
        </>
      )}
      {skew.left > 0 && (
        <p class="left">{plural(skew.left, 'more row does', 'more rows do')} not fit: see straddle diff.</p>
      )}
    </Section>
  );
}

function leadOf({ rows, left, alike }: Skew): string {
  const differing = rows.length + left;
  return `${plural(differing, 'resource differs', 'resources differ')}, ${countText(alike)} alike everywhere`;
}

function Legend() {
  return (
    <ul class="legend" aria-label="States of cells">
      {Object.entries(CELLS).map(([cell, { letter, word }]) => (
        <li key={cell}>
          <span class={`cell ${cell as SkewCell}`} aria-hidden="true">
            {letter}
          </span>{' '}
          {word}
        </li>
      ))}
    </ul>
  );
}
