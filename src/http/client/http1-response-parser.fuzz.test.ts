import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readByNode } from './http1-response-by-node.fixture.js';
import { read, type Seen } from './http1-response-reading.fixture.js';
import { type SentResponse, sentResponse } from './http1-responses.fixture.js';
import { FieldKind, knownName } from './known-field-names.js';
import { STRICTER_THAN_NODE } from './stricter-than-node.fixture.js';

/** `STRADDLE_FUZZ_SECONDS=60` goes on for so long, with other answers each time; `STRADDLE_FUZZ_SEED` repeats a run. */
const SECONDS = Number(process.env['STRADDLE_FUZZ_SECONDS'] ?? 0);
const SEED = Number(process.env['STRADDLE_FUZZ_SEED'] ?? (SECONDS > 0 ? Date.now() % 2 ** 31 : 1));
const RUNS = 3_000;

const isAccepted = ({ error, trailers }: Seen) => error === undefined && trailers !== undefined;

/** One piece for each byte: the answer ends with the last byte that is not left over. */
const byteByByte = (bytes: Buffer) => [...bytes].map((byte) => Buffer.of(byte));

function pieces({ bytes, cuts }: SentResponse): Buffer[] {
  const places = [...new Set(cuts.filter((cut) => cut > 0 && cut < bytes.length))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
}

/** Fields as Straddle passes them on: those about one connection are left out, `Connection` itself is not. */
function passedOn(fields: readonly string[]): string[] {
  return fields.filter((_, i) => {
    const { kind } = knownName(fields[i & ~1]!);
    return kind < FieldKind.hopByHop || kind === FieldKind.connection;
  });
}

function ordinary(fields: readonly string[]): string[] {
  return fields.filter((_, i) => knownName(fields[i & ~1]!).kind === FieldKind.ordinary);
}

/** Bytes up to the end of an accepted answer. */
function answerBytes(bytes: Buffer, method: string): number {
  for (let length = 1; length <= bytes.length; length++) {
    if (read([bytes.subarray(0, length)], method, { ends: false }).trailers) return length;
  }
  return bytes.length;
}

type Outcome = 'both accept' | 'both refuse' | 'stricter';

async function compare(sent: SentResponse): Promise<Outcome> {
  const { bytes, method } = sent;
  const ours = read(pieces(sent), method);
  const again = read(byteByByte(bytes), method);
  expect(isAccepted(again)).toBe(isAccepted(ours));
  const node = await readByNode(bytes, method);
  if (!isAccepted(ours)) {
    if (!node.accepted) return 'both refuse';
    const text = bytes.toString('latin1', 0, node.bytes);
    const { error = 'it has no end' } = ours;
    const named = STRICTER_THAN_NODE.some(({ errors, applies }) => errors.includes(error) && applies.test(text));
    expect(named, `Node.js accepts it, Straddle does not: ${error}`).toBe(true);
    return 'stricter';
  }
  expect(again).toEqual(ours);
  expect(node).toMatchObject({ accepted: true, status: ours.status, body: ours.body });
  expect(passedOn(node.fields)).toEqual(ours.fields);
  expect(ordinary(node.trailers)).toEqual(ours.trailers);
  expect(node.bytes).toBe(answerBytes(bytes, method));
  // Node.js does not reuse a connection after HEAD without a length, although nothing is left to come.
  if (ours.keepsAlive && method !== 'HEAD') expect(node.keepsAlive).toBe(true);
  return 'both accept';
}

describe('Http1ResponseParser beside the parser of Node.js', () => {
  it(
    `accepts nothing that Node.js refuses or reads otherwise (seed ${SEED})`,
    async () => {
      const outcomes: Record<Outcome, number> = { 'both accept': 0, 'both refuse': 0, stricter: 0 };
      const property = fc.asyncProperty(sentResponse, async (sent) => {
        outcomes[await compare(sent)]++;
      });
      const long = { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: SECONDS * 1_000 };
      await fc.assert(property, { seed: SEED, ...(SECONDS > 0 ? long : { numRuns: RUNS }) });
      const all = outcomes['both accept'] + outcomes['both refuse'] + outcomes.stricter;
      // Or the property would hold for a parser that refuses everything.
      expect(outcomes['both accept']).toBeGreaterThan(all / 4);
      expect(outcomes['both refuse']).toBeGreaterThan(all / 10);
      expect(outcomes.stricter).toBeGreaterThan(0);
    },
    30_000 + SECONDS * 2_000,
  );

  it.each(STRICTER_THAN_NODE)('is stricter about $name, on purpose', async (entry) => {
    const { example, errors, applies, acceptedBy = () => true } = entry;
    const bytes = Buffer.from(example, 'latin1');
    expect(errors).toContain(read([bytes]).error);
    expect(errors).toContain(read(byteByByte(bytes)).error);
    expect(applies.test(example)).toBe(true);
    const accepted = acceptedBy(Number.parseInt(process.versions.node, 10));
    expect(await readByNode(bytes, 'GET')).toMatchObject({ accepted });
  });
});
