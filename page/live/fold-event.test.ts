import { describe, expect, it } from 'vitest';
import { flowRow, flowRows, flowSeconds, upgradeState } from '../../test/page/states.js';
import { bounded, FLOW_ROWS_MAX, FLOW_SECONDS_MAX, foldEvent, parseUntrusted } from './fold-event.js';

const { totals } = upgradeState().flow;
const withFlow = (rows: ReturnType<typeof flowRows>) =>
  upgradeState({ flow: { recent: rows, seconds: flowSeconds(10), totals, left: 0 } });

describe('an update of the flow', () => {
  it('puts new requests before older ones, each once, in whatever order they come', () => {
    const state = foldEvent(withFlow(flowRows(3)), 'flow', {
      rows: [flowRow(4), flowRow(6), flowRow(3), flowRow(5)],
      seconds: [],
      totals,
      left: 7,
    });
    expect(state.flow.recent.map(({ id }) => id)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(state.flow.left).toBe(7);
  });

  it('replaces what was counted of a second before', () => {
    const state = withFlow([]);
    const last = state.flow.seconds.at(-1)!;
    const { flow } = foldEvent(state, 'flow', { rows: [], seconds: [{ ...last, held503: 9 }], totals, left: 0 });
    expect(flow.seconds).toHaveLength(10);
    expect(flow.seconds.at(-1)?.held503).toBe(9);
  });

  it('never makes the lists longer than their bounds', () => {
    const state = bounded(
      upgradeState({ flow: { recent: flowRows(3_000), seconds: flowSeconds(3_000), totals, left: 0 } }),
    );
    expect(state.flow.recent).toHaveLength(FLOW_ROWS_MAX);
    expect(state.flow.seconds).toHaveLength(FLOW_SECONDS_MAX);
    expect(state.flow.recent[0]?.id).toBe(3_000);
    expect(state.flow.seconds.at(-1)?.atMs).toBe(flowSeconds(3_000).at(-1)?.atMs);
  });
});

describe('text of the server', () => {
  it.each([
    ['a control character', 'a\u0007b'],
    ['a change of direction', 'a\u202eb'],
  ])('has %s replaced', (_, name) => {
    expect(parseUntrusted(JSON.stringify({ list: [{ name }] }))).toEqual({ list: [{ name: 'a\ufffdb' }] });
  });

  it('keeps letters of all languages', () => {
    expect(parseUntrusted('{"name":"k\\u00fcche 台 👩‍💻"}')).toEqual({ name: 'küche 台 👩‍💻' });
  });
});
