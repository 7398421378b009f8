import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLines, readWatchRequest, skimEvent, takeUpTarget, type WatchBeginning } from './watch-events.js';

const event = (type: string, resourceVersion: string | number, rest: object = {}) =>
  `${JSON.stringify({ type, object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: String(resourceVersion) }, ...rest } })}\n`;

const END_OF_STATE = `${JSON.stringify({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '40', annotations: { 'k8s.io/initial-events-end': 'true' } } },
})}\n`;

function feed(beginning: WatchBeginning, ...chunks: string[]) {
  const lines = new EventLines(beginning);
  let passed = '';
  for (const chunk of chunks) {
    lines.take(Buffer.from(chunk), (bytes) => {
      passed += Buffer.from(bytes).toString();
    });
  }
  return { lines, passed, position: lines.position() };
}

describe('readWatchRequest', () => {
  it.each([
    ['/api/v1/pods?watch=1&resourceVersion=5', 'nothing'],
    ['/api/v1/watch/pods', 'state'],
    ['/api/v1/pods?watch=1', 'state'],
    ['/api/v1/pods?watch=1&resourceVersion=0', 'state'],
    ['/api/v1/pods?watch=1&resourceVersion=', 'state'],
    ['/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'marked-state'],
    ['/api/v1/pods?watch=1&sendInitialEvents&resourceVersion=9', 'marked-state'],
    ['/api/v1/pods?watch=1&sendInitialEvents=FALSE&resourceVersion=9', 'nothing'],
    ['/api/v1/pods?watch=1&sendInitialEvents=0', 'now'],
  ])('tells what %s begins with', (target, beginning) => {
    expect(readWatchRequest(target)?.beginning).toBe(beginning);
  });

  it('reads the time-out, and none where the server chooses', () => {
    expect(readWatchRequest('/x?timeoutSeconds=30')?.timeoutSeconds).toBe(30);
    expect(readWatchRequest('/x?timeoutSeconds=0')?.timeoutSeconds).toBeUndefined();
    expect(readWatchRequest('/x')?.timeoutSeconds).toBeUndefined();
  });

  it.each([
    '/x?resourceVersion=1&resourceVersion=2',
    '/x?resourceVersion=%zz',
    '/x?resourceVersion=1;a',
    '/x?timeoutSeconds=-1',
  ])('refuses to guess what %s means', (target) => {
    expect(readWatchRequest(target)).toBeUndefined();
  });
});

describe('takeUpTarget', () => {
  it('replaces what has to change and keeps the rest as it was written', () => {
    const target =
      '/api/v1/pods?labelSelector=a%3Db,c+in%20(d)&resourceVersion=5&watch=true&timeoutSeconds=300&allowWatchBookmarks=true';
    expect(takeUpTarget(target, { resourceVersion: '77', timeoutSeconds: 20 })).toBe(
      '/api/v1/pods?labelSelector=a%3Db,c+in%20(d)&resourceVersion=77&watch=true&timeoutSeconds=20&allowWatchBookmarks=true',
    );
  });

  it('leaves out what asks for the state once more', () => {
    expect(
      takeUpTarget('/x?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&a=b', {
        resourceVersion: '7',
        timeoutSeconds: undefined,
      }),
    ).toBe('/x?watch=1&a=b&resourceVersion=7');
  });

  it('adds a query to a legacy watch path that has none', () => {
    expect(takeUpTarget('/api/v1/watch/pods', { resourceVersion: '7', timeoutSeconds: undefined })).toBe(
      '/api/v1/watch/pods?resourceVersion=7',
    );
  });

  it('asks for the same again where nothing was delivered', () => {
    const target = '/x?watch=1&sendInitialEvents=true&timeoutSeconds=9';
    expect(takeUpTarget(target, { resourceVersion: undefined, timeoutSeconds: 3 })).toBe(
      '/x?watch=1&sendInitialEvents=true&timeoutSeconds=3',
    );
  });

  it('encodes a version that is not a number', () => {
    expect(takeUpTarget('/x', { resourceVersion: 'a&b', timeoutSeconds: undefined })).toBe('/x?resourceVersion=a%26b');
  });
});

describe('skimEvent', () => {
  it('finds the version past strings, escapes and objects that look like it', () => {
    const line = `${JSON.stringify({
      type: 'MODIFIED',
      object: {
        data: {
          metadata: { resourceVersion: 'no' },
          text: '{"resourceVersion":"no"}\\"',
          list: [1, { a: '}' }],
          yes: true,
        },
        metadata: { annotations: { x: '\\', y: '"resourceVersion":"no"' }, resourceVersion: '12' },
      },
    })}\n`;
    expect(skimEvent(Buffer.from(line))).toEqual({ type: 'MODIFIED', resourceVersion: '12' });
  });

  it('finds the version of a table in its row if the table has none', () => {
    const row = { cells: ['a'], object: { metadata: { resourceVersion: '8' } } };
    const line = JSON.stringify({ type: 'ADDED', object: { kind: 'Table', metadata: {}, rows: [row] } });
    expect(skimEvent(Buffer.from(line))).toEqual({ type: 'ADDED', resourceVersion: '8' });
  });

  it.each(['', '{', '}', '"type":"ADDED"', '[1]', '{"type":"ADDED', '{"type":1}', '{"kind":"x"}', '{"type" "ADDED"}'])(
    'calls %j malformed',
    (line) => {
      expect(skimEvent(Buffer.from(`${line}\n`))).toBe('malformed');
    },
  );

  it('reads any JSON the way JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (before, after, version) => {
        const value = {
          before,
          type: 'ADDED',
          object: { x: before, metadata: { y: after, resourceVersion: version }, after },
        };
        const expected = { type: 'ADDED', resourceVersion: version === '' ? undefined : version };
        expect(skimEvent(Buffer.from(`${JSON.stringify(value)}\n`))).toEqual(expected);
      }),
    );
  });
});

describe('EventLines', () => {
  it('passes on whole events only', () => {
    const { passed, position } = feed('nothing', event('ADDED', 6), event('ADDED', 7) + event('ADDED', 8).slice(0, 20));
    expect(passed).toBe(event('ADDED', 6) + event('ADDED', 7));
    expect(position).toEqual({ kind: 'from', resourceVersion: '7' });
  });

  it('is untouched until the first event is whole', () => {
    const { passed, position } = feed('state', event('ADDED', 6).slice(0, -1));
    expect(passed).toBe('');
    expect(position).toEqual({ kind: 'untouched' });
  });

  it.each(['MODIFIED', 'DELETED', 'BOOKMARK'])(
    'is unsafe among the state, until a %s shows that it is complete',
    (type) => {
      expect(feed('state', event('ADDED', 6) + event('ADDED', 3)).position).toEqual({ kind: 'unsafe' });
      const split = event(type, 9);
      const { position } = feed('state', event('ADDED', 6) + split.slice(0, 5), split.slice(5), event('ADDED', 10));
      expect(position).toEqual({ kind: 'from', resourceVersion: '10' });
    },
  );

  it('waits for the bookmark that ends the state where the client does', () => {
    const changes = event('ADDED', 6) + event('MODIFIED', 9) + event('BOOKMARK', 10);
    expect(feed('marked-state', changes).position).toEqual({ kind: 'unsafe' });
    expect(feed('marked-state', changes + END_OF_STATE).position).toEqual({ kind: 'from', resourceVersion: '40' });
  });

  it('can not tell where a watch that began at a moment of the server stands before its first event', () => {
    expect(feed('now').position).toEqual({ kind: 'unsafe' });
    expect(feed('now', event('ADDED', 3)).position).toEqual({ kind: 'from', resourceVersion: '3' });
  });

  it('is over after an ERROR event', () => {
    const error = `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410 } })}\n`;
    expect(feed('nothing', event('ADDED', 3) + error).position).toEqual({ kind: 'over' });
  });

  it('is inside where a line is not an event', () => {
    expect(feed('nothing', '{\n  "type": "ADDED",\n').position).toEqual({ kind: 'inside' });
  });

  it('gives up on an event beyond its bound, and passes everything on', () => {
    const part = 'x'.repeat(1024 * 1024);
    const { passed, position } = feed('nothing', event('ADDED', 3), part, part, part, part, part, 'y');
    expect(passed.length).toBe(event('ADDED', 3).length + 5 * part.length + 1);
    expect(position).toEqual({ kind: 'inside' });
  });

  it('knows the position of an event too large to keep', () => {
    const large = event('ADDED', 3, { spec: 'x'.repeat(500_000) });
    expect(feed('nothing', large.slice(0, 100_000), large.slice(100_000)).position).toEqual({
      kind: 'from',
      resourceVersion: '3',
    });
  });

  it('does not depend on how the bytes are cut', () => {
    const all = Array.from({ length: 12 }, (_, i) =>
      event(i === 6 ? 'BOOKMARK' : 'ADDED', i + 1, { spec: 'ü'.repeat(i) }),
    );
    const bytes = Buffer.from(all.join(''));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 }), (cuts) => {
        const lines = new EventLines('state');
        const passed: Uint8Array[] = [];
        const end = Math.max(0, ...cuts);
        const sorted = [0, ...cuts].sort((a, b) => a - b);
        for (let i = 1; i < sorted.length; i++) {
          if (sorted[i]! > sorted[i - 1]!)
            lines.take(bytes.subarray(sorted[i - 1]!, sorted[i]!), (b) => passed.push(b));
        }
        const whole = bytes.subarray(0, end).lastIndexOf(10) + 1;
        const count = bytes.subarray(0, whole).filter((b) => b === 10).length;
        expect(Buffer.concat(passed).equals(bytes.subarray(0, whole))).toBe(true);
        expect(lines.position()).toEqual(
          count === 0
            ? { kind: 'untouched' }
            : count < 7
              ? { kind: 'unsafe' }
              : { kind: 'from', resourceVersion: String(count) },
        );
      }),
    );
  });
});
