import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { BodyStream } from '../../http/body-stream.js';
import type { Reply } from '../../http/exchange.js';
import type { Destination } from '../../http/outgoing.js';
import type { Peer } from '../peers/peer-table.js';
import { buildPeerTable } from '../peers/table-index.js';
import { REACH_BYTES_MAX } from './reach-document.js';
import { ReachReader } from './reach-reader.js';

const documentOf = (server: string) =>
  JSON.stringify({ kind: 'StraddleReach', formatVersion: 1, server, peering: true, peers: [] });
const DOCUMENT = documentOf('a');

function peer(identity: string, kind: 'straddle' | 'kube-apiserver' = 'straddle', usable = true): Peer {
  const destination = { address: `${identity}:6443` } as Destination;
  return { identity, surface: undefined, endpoints: [{ kind, destination, usable: () => usable, report: () => {} }] };
}

function reading(peers: readonly Peer[], answer: (address: string) => Promise<Reply>) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const reader = new ReachReader({
    directory: { snapshot: () => buildPeerTable({ peers, unread: [], departed: [] }) },
    requests: {
      fetchFrom:
        ({ address }) =>
        (path) => {
          asked.push(`${address}${path}`);
          return answer(address);
        },
    },
    clock,
    serverName: 'cp-1',
  });
  return { reader, clock, asked };
}

const reply = (text: string, status = 200): Reply => ({ status, headers: [], body: Buffer.from(text) });

describe('reach reader', () => {
  it('asks the Straddles of peers, and no kube-apiserver', async () => {
    const { reader, asked } = reading([peer('a'), peer('b', 'kube-apiserver')], async () => reply(DOCUMENT));
    await reader.look();
    expect(asked).toEqual(['a:6443/straddle/api/v1/reach']);
    expect([...reader.documents.keys()]).toEqual(['a']);
  });

  it('asks every few seconds only, and shows the last answers meanwhile', async () => {
    const { reader, clock, asked } = reading([peer('a')], async () => reply(DOCUMENT));
    await reader.look();
    await clock.advance(4_000);
    await reader.look();
    expect(asked).toHaveLength(1);
    await clock.advance(1_000);
    await reader.look();
    expect(asked).toHaveLength(2);
  });

  it('asks again after the clock was set back', async () => {
    const { reader, clock, asked } = reading([peer('a')], async () => reply(DOCUMENT));
    await reader.look();
    await clock.advance(-3_600_000);
    await reader.look();
    expect(asked).toHaveLength(2);
  });

  it.each<[string, Record<string, string>]>([
    ['two addresses lead to the same server', { a: 'x', b: 'X', c: 'c' }],
    ['an address leads back to this server', { a: 'CP-1', b: 'cp-1', c: 'c' }],
    ['a document has no name', { a: '', c: 'c' }],
  ])('does not know whose a document is while %s', async (_, servers) => {
    const { reader } = reading(
      Object.keys(servers).map((name) => peer(name)),
      async (address) => reply(documentOf(servers[address.split(':')[0]!]!)),
    );
    await reader.look();
    expect([...reader.documents.keys()]).toEqual(['c']);
  });

  it('has nothing of a peer that refuses, fails, talks nonsense or too much', async () => {
    const answers: Record<string, () => Promise<Reply>> = {
      refuses: async () => reply(DOCUMENT, 403),
      fails: () => Promise.reject(new Error('reset')),
      nonsense: async () => reply('<html>'),
      long: async () => reply(DOCUMENT + ' '.repeat(REACH_BYTES_MAX)),
      good: async () => reply(DOCUMENT),
    };
    const { reader } = reading(
      Object.keys(answers).map((name) => peer(name)),
      (address) => answers[address.split(':')[0]!]!(),
    );
    await reader.look();
    expect([...reader.documents.keys()]).toEqual(['good']);
  });

  it('waits two seconds for a peer that hangs, and not at all while earlier answers are usable', async () => {
    let hangs = false;
    const endless = () => new BodyStream({ pause: () => {}, resume: () => {}, cancel: () => {} });
    const { reader, clock } = reading([peer('a')], async () =>
      hangs ? { ...reply(''), body: endless() } : reply(DOCUMENT),
    );
    await reader.look();
    hangs = true;
    await clock.advance(5_000);
    await reader.look();
    expect(reader.documents.has('a')).toBe(true);
    await clock.advance(2_000);
    expect(reader.documents.has('a')).toBe(false);
    await clock.advance(60_000);
    let isOver = false;
    void reader.look().then(() => {
      isOver = true;
    });
    await clock.advance(1_900);
    expect(isOver).toBe(false);
    await clock.advance(100);
    expect(isOver).toBe(true);
  });
});
