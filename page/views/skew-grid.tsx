import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SkewRow } from '../../src/proxy/page/page-state.js';
import { Ago } from '../parts/ago.js';
import { rootFontPx } from '../parts/font-size.js';
import { memo } from '../parts/memo.js';
import { usePrinting } from '../parts/use-printing.js';
import { plural } from '../words.js';
import { CELLS } from './skew-cells.js';
import { type CellPlace, nextCell, rowsOfWindow, windowOf } from './skew-rows.js';

interface SkewGridProps {
  readonly servers: readonly string[];
  readonly rows: readonly SkewRow[];
}

/** Rows have one height, so that those out of sight need not exist. In units of the font of the page. */
const ROW_HEIGHT_REM = 1.75;
const PRINTED_ROWS_MAX = 400;
/** More columns than this have their names written upwards. */
const LEVEL_NAMES_MAX = 6;
const NAME_LETTERS_MAX = 58;
/** Width of a letter of the first column. */
const LETTER_REM = 0.53;
/** Beside the servers: the name and the last use. */
const OTHER_COLUMNS = 2;

/**
 * A grid with one focusable cell, which the arrow keys move. Draws only rows in sight. Each row is laid out by itself, unlike rows of a
 * table, which wait for each other; therefore the roles are written out.
 */
export function SkewGrid({ servers, rows }: SkewGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrollTop: 0, height: 600 });
  const [at, setAt] = useState<CellPlace>({ row: 0, column: 0 });
  const wantsFocus = useRef(false);
  const rowHeight = useRowHeight();
  const isPrinting = usePrinting();
  const isUpright = servers.length > LEVEL_NAMES_MAX;
  // Fixed widths, so that columns stay where they are while other rows come into sight.
  const longest = useMemo(() => rows.reduce((most, { name }) => Math.max(most, name.length), 0), [rows]);
  const nameWidth = Math.min(NAME_LETTERS_MAX, longest + 4);
  const columns = servers.length + OTHER_COLUMNS;
  const place = { row: Math.min(at.row, rows.length - 1), column: Math.min(at.column, columns - 1) };
  const shown = isPrinting
    ? { first: 0, end: Math.min(rows.length, PRINTED_ROWS_MAX) }
    : windowOf(view.scrollTop, view.height, rowHeight, rows.length);

  useEffect(() => {
    const element = box.current!;
    const measure = () => setView(viewOf(element));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const cell = box.current!.querySelector<HTMLElement>('[tabindex="0"]');
    if (cell === null) return;
    wantsFocus.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });

  const move = (event: KeyboardEvent): void => {
    const element = box.current!;
    const size = {
      rows: rows.length,
      columns,
      pageRows: Math.max(1, Math.floor(element.clientHeight / rowHeight) - 2),
    };
    const to = nextCell(event.key, event.ctrlKey, place, size);
    if (to === undefined || event.altKey || event.metaKey) return;
    event.preventDefault();
    scrollToRow(element, to.row, rowHeight);
    wantsFocus.current = true;
    setView(viewOf(element));
    setAt(to);
  };

  /** Titles are made when they are wanted: there are thousands of cells. */
  const explain = ({ target }: PointerEvent): void => {
    const { row, column } = placeOf(target) ?? { row: -1, column: -1 };
    const server = servers[column - 1];
    const cell = rows[row]?.cells[column - 1];
    if (target instanceof HTMLElement && server !== undefined && cell !== undefined)
      target.title = `${server}: ${CELLS[cell].word}`;
  };

  const isDrawn = place.row >= shown.first && place.row < shown.end;
  const drawn = rows.slice(shown.first, shown.end);
  const slots = isPrinting ? drawn.length : rowsOfWindow(view.height, rowHeight);
  const selected = rows[place.row];
  return (
    <div class="grid-and-detail">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the events are those of the cells of the grid within. */}
      <div
        class="scroll skew-box"
        ref={box}
        onKeyDown={move}
        onFocusIn={(event) => setAt(placeOf(event.target) ?? at)}
        onPointerOver={explain}
      >
        <table
          role="grid"
          class={isUpright ? 'skew upright' : 'skew'}
          aria-rowcount={rows.length + 1}
          aria-colcount={columns}
          style={{
            '--name': `${nameWidth * LETTER_REM}rem`,
            '--cell': isUpright ? '2.2rem' : '5.5rem',
            '--columns': servers.length,
          }}
          aria-label="Resources that not every server serves alike; arrow keys move from cell to cell"
        >
          <thead role="rowgroup">
            <tr role="row" aria-rowindex={1}>
              <th role="columnheader" scope="col">
                Resource
              </th>
              {servers.map((name) => (
                <th key={name} role="columnheader" scope="col" class="server" title={name}>
                  <span>{name}</span>
                </th>
              ))}
              <th role="columnheader" scope="col" class="used">
                Used
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            <Spacer height={shown.first * rowHeight} columns={columns} />
            {drawn.map((row, index) => (
              <SkewLine
                // Rows in sight take turns with the same elements: new ones for each step of scrolling cost far more.
                key={(shown.first + index) % slots}
                row={row}
                servers={servers}
                index={shown.first + index}
                height={rowHeight}
                active={shown.first + index === place.row ? place.column : isDrawn || index > 0 ? -1 : 0}
              />
            ))}
            <Spacer height={isPrinting ? 0 : (rows.length - shown.end) * rowHeight} columns={columns} />
          </tbody>
        </table>
      </div>
      {isPrinting && shown.end < rows.length && (
        <p class="left">{plural(rows.length - shown.end, 'more row is', 'more rows are')} not printed.</p>
      )}
      {selected !== undefined && <p class="detail">{sentenceOf(selected, servers, place.column)}</p>}
    </div>
  );
}

interface SkewLineProps {
  readonly row: SkewRow;
  readonly servers: readonly string[];
  readonly index: number;
  readonly height: number;
  /** The column that has the focus, or would get it; -1 for none. */
  readonly active: number;
}

const SkewLine = memo(({ row, servers, index, height, active }: SkewLineProps) => {
  const focusable = (column: number) => (column === active ? 0 : -1);
  return (
    <tr role="row" aria-rowindex={index + 2} style={{ height: `${height}px` }} data-row={index}>
      <th role="rowheader" scope="row" tabIndex={focusable(0)} data-column={0} title={row.name}>
        {row.name}
      </th>
      {servers.map((server, column) => {
        const cell = row.cells[column] ?? 'absent';
        const { letter, word } = CELLS[cell] ?? CELLS.absent;
        return (
          <td
            key={server}
            role="gridcell"
            class={`cell ${cell}`}
            tabIndex={focusable(column + 1)}
            data-column={column + 1}
            aria-label={word}
          >
            {letter}
          </td>
        );
      })}
      <td role="gridcell" class="used" tabIndex={focusable(servers.length + 1)} data-column={servers.length + 1}>
        <Ago atMs={row.usedAtMs} />
      </td>
    </tr>
  );
});

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row has nothing to focus; the grid counts its rows itself.
    <tr class="spacer" aria-hidden="true" style={{ height: `${height}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}

function sentenceOf({ name, cells }: SkewRow, servers: readonly string[], column: number): string {
  const server = servers[column - 1];
  const cell = cells[column - 1];
  if (server === undefined || cell === undefined) {
    const counts = Object.entries(CELLS).flatMap(([state, { word }]) => {
      const count = cells.filter((each) => each === state).length;
      return count === 0 ? [] : `${word} at ${count}`;
    });
    return `${name}: ${counts.join(', ')} of ${plural(servers.length, 'server')}.`;
  }
  return `Requests for ${name} that arrive at ${server} are ${CELLS[cell].sentence}.`;
}

function placeOf(target: EventTarget | null): CellPlace | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
  const row = cell?.closest<HTMLElement>('[data-row]')?.dataset['row'];
  const column = cell?.dataset['column'];
  return row === undefined || column === undefined ? undefined : { row: Number(row), column: Number(column) };
}

/** Below the fixed head, which covers the first rows in sight. */
function scrollToRow(box: HTMLElement, row: number, rowHeight: number): void {
  const headHeight = box.querySelector('thead')?.clientHeight ?? 0;
  const top = row * rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  const bottom = headHeight + top + rowHeight;
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}

/** Never more than a screen: on paper the box is as high as all rows, and would ask for all of them. */
function viewOf(box: HTMLElement): { readonly scrollTop: number; readonly height: number } {
  return { scrollTop: box.scrollTop, height: Math.min(box.clientHeight, innerHeight) };
}

function useRowHeight(): number {
  const [height, setHeight] = useState(rowHeightNow);
  useEffect(() => {
    const measure = () => setHeight(rowHeightNow());
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  return height;
}

function rowHeightNow(): number {
  return Math.round(ROW_HEIGHT_REM * rootFontPx());
}
