import { describe, expect, it } from 'vitest';
import { ask } from './routing.fixture.js';
import { isContinuable, readWatchRequest, takeUpTarget, withoutCompression } from './watch-request.js';

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
  ])('returns the beginning of %s', (target, beginning) => {
    expect(readWatchRequest(target)?.beginning).toBe(beginning);
  });

  it('returns timeoutSeconds, and undefined if the server chooses it', () => {
    expect(readWatchRequest('/x?timeoutSeconds=30')?.timeoutSeconds).toBe(30);
    expect(readWatchRequest('/x?timeoutSeconds=0')?.timeoutSeconds).toBeUndefined();
    expect(readWatchRequest('/x')?.timeoutSeconds).toBeUndefined();
  });

  it.each([
    '/x?resourceVersion=1&resourceVersion=2',
    '/x?resourceVersion=%zz',
    '/x?resourceVersion=1;a',
    '/x?timeoutSeconds=-1',
  ])('returns undefined for the ambiguous target %s', (target) => {
    expect(readWatchRequest(target)).toBeUndefined();
  });
});

describe('takeUpTarget', () => {
  it('replaces resourceVersion and timeoutSeconds, and keeps the other parameters unchanged', () => {
    const target =
      '/api/v1/pods?labelSelector=a%3Db,c+in%20(d)&resourceVersion=5&watch=true&timeoutSeconds=300&allowWatchBookmarks=true';
    expect(takeUpTarget(target, { resourceVersion: '77', timeoutSeconds: 20 })).toBe(
      '/api/v1/pods?labelSelector=a%3Db,c+in%20(d)&resourceVersion=77&watch=true&timeoutSeconds=20&allowWatchBookmarks=true',
    );
  });

  it('removes sendInitialEvents and resourceVersionMatch', () => {
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

  it('keeps the beginning of a watch of which nothing was delivered', () => {
    const target = '/x?watch=1&sendInitialEvents=true&timeoutSeconds=9';
    expect(takeUpTarget(target, { resourceVersion: undefined, timeoutSeconds: 3 })).toBe(
      '/x?watch=1&sendInitialEvents=true&timeoutSeconds=3',
    );
  });

  it('percent-encodes a resourceVersion that is not a number', () => {
    expect(takeUpTarget('/x', { resourceVersion: 'a&b', timeoutSeconds: undefined })).toBe('/x?resourceVersion=a%26b');
  });
});

describe('isContinuable', () => {
  it('is true for a watch whose parameters are understood', () => {
    expect(isContinuable(ask('GET', '/api/v1/pods?watch=1'))).toBe(true);
  });

  it.each([
    ['a list', ask('GET', '/api/v1/pods')],
    ['a watch over a WebSocket', ask('GET', '/api/v1/pods?watch=1', null, true)],
    ['a watch with parameters that servers may read differently', ask('GET', '/api/v1/pods?watch=1&timeoutSeconds=-1')],
  ])('is false for %s', (_, exchange) => {
    expect(isContinuable(exchange)).toBe(false);
  });
});

describe('withoutCompression', () => {
  it.each(['gzip', 'gzip, br;q=0.5', 'br', '*', 'gzip;q=1, identity;q=0.1'])('replaces Accept-Encoding %j', (field) => {
    const headers = ['Accept', 'a/b', 'accept-encoding', field, 'X', 'y', 'Accept-Encoding', 'deflate'];
    expect(withoutCompression(headers)).toEqual(['Accept', 'a/b', 'X', 'y', 'Accept-Encoding', 'identity']);
  });

  it.each([
    ['has no Accept-Encoding', ['Accept', 'gzip']],
    ['asks for identity', ['Accept-Encoding', 'identity']],
    ['refuses identity', ['Accept-Encoding', 'gzip, identity;q=0']],
  ])('returns the same fields for a request that %s', (_, headers) => {
    expect(withoutCompression(headers)).toBe(headers);
  });
});
