import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { DocumentFetcher } from './document-fetch.js';
import { StorageHashReader } from './storage-hashes.js';
import { group, resource, server, surfaceOf, version } from './surface.fixture.js';

const AT = { group: 'batch', version: 'v1' };
const surface = (kubernetesVersion: string, ...names: string[]) =>
  surfaceOf([group('batch', version('v1', ...names.map((name) => resource(name))))], [], kubernetesVersion);

function reader(answers: Record<string, string>) {
  const asked: string[] = [];
  const fetcher = new DocumentFetcher({
    send: async (name) => {
      asked.push(name);
      return { status: 200, headers: ['Content-Type', 'application/json'], body: Buffer.from(answers[name]!) };
    },
    clock: new ManualClock(),
    logger: silentLogger,
    onFault: () => {},
  });
  return { hashes: new StorageHashReader(fetcher), asked };
}

function list(by: string, ...names: string[]): string {
  const resources = names.map((name) => ({ name, storageVersionHash: `${name}-${by}` }));
  return JSON.stringify({ kind: 'APIResourceList', resources });
}

describe('StorageHashReader', () => {
  it('reads the newest server, and others only for resources that it lacks, once', async () => {
    const { hashes, asked } = reader({ a: list('a', 'jobs', 'olds'), b: list('b', 'jobs'), c: list('c', 'jobs') });
    const servers = [
      server('a', surface('v1.35.8', 'jobs', 'olds')),
      server('b', surface('v1.36.4', 'jobs')),
      server('c', surface('v1.35.8', 'jobs')),
      server('d', surface('v1.37.0', 'jobs'), true),
    ];
    for (let i = 0; i < 2; i++) {
      expect(await hashes.of(servers, AT)).toEqual({
        hashes: new Map([
          ['jobs', 'jobs-b'],
          ['olds', 'olds-a'],
        ]),
        complete: true,
      });
    }
    expect(asked).toEqual(['b', 'a']);
  });

  it('is incomplete without the hashes of a server with malformed replies', async () => {
    for (const garbage of [
      '',
      '{"kind":',
      '[]',
      'null',
      '{"kind":"Pod"}',
      '{"kind":"APIResourceList","resources":[null]}',
    ]) {
      const { hashes } = reader({ a: list('a', 'jobs'), b: garbage });
      const servers = [server('a', surface('v1.35.8', 'jobs')), server('b', surface('v1.36.4', 'jobs'))];
      expect(await hashes.of(servers, AT)).toEqual({ hashes: new Map([['jobs', 'jobs-a']]), complete: false });
    }
  });
});
