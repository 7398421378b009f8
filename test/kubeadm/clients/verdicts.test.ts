import { describe, expect, it } from 'vitest';
import type { InformerLine } from '../../real/rig/informer.js';
import type { WrittenEvent } from '../../real/scenarios/watches/job-writer.js';
import { gapsOf } from './informers.js';
import { ID_LABEL, verdictOf } from './write-ledger.js';

describe('the verdict about writes', () => {
  const stored = (id: string, name: string) => ({ metadata: { name, labels: { [ID_LABEL]: id } } });
  const acknowledged = new Map([
    ['1', 'written-a'],
    ['2', 'written-b'],
  ]);

  it('is good where each acknowledged write is stored once, and others may be', () => {
    const objects = [stored('1', 'written-a'), stored('2', 'written-b'), stored('3', 'written-c')];
    expect(verdictOf(acknowledged, objects)).toEqual({ acknowledged: 2, lost: [], doubled: [] });
  });

  it('names writes that are not stored, or stored under another name only', () => {
    expect(verdictOf(acknowledged, [stored('2', 'written-x')]).lost).toEqual(['1', '2']);
  });

  it('names writes that are stored twice, also where nobody acknowledged them', () => {
    const twice = [
      stored('2', 'written-b'),
      stored('2', 'written-c'),
      stored('3', 'written-d'),
      stored('3', 'written-e'),
    ];
    expect(verdictOf(acknowledged, [stored('1', 'written-a'), ...twice]).doubled).toEqual(['2', '3']);
  });
});

describe('the gaps of an informer', () => {
  const event = (type: WrittenEvent['type'], name: string): WrittenEvent => ({
    type,
    name,
    resourceVersion: undefined,
  });
  const written = [event('ADDED', 'a'), event('MODIFIED', 'a'), event('DELETED', 'a')];
  const seen = (...changes: WrittenEvent[]) => ({
    of: (): InformerLine[] => changes.map(({ type, name }) => ({ kind: 'change', type, name })),
  });

  it('are none where it reported every change once and in order', () => {
    expect(gapsOf(seen(...written), written)).toEqual([]);
  });

  it('show a change that is missing, in another order, or reported twice', () => {
    const [added, modified, deleted] = written as [WrittenEvent, WrittenEvent, WrittenEvent];
    expect(gapsOf(seen(added, deleted), written)).toEqual(['change 1 is DELETED a, not MODIFIED a']);
    expect(gapsOf(seen(added, modified), written)).toEqual(['change 2 is missing, not DELETED a']);
    expect(gapsOf(seen(modified, added, deleted), written)).toEqual(['change 0 is MODIFIED a, not ADDED a']);
    expect(gapsOf(seen(...written, deleted), written)).toEqual(['1 changes more than were written']);
  });
});
