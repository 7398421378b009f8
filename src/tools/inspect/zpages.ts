import { objectMember, parsedObject } from '../../kube/json.js';
import type { Answer, Asker } from './ask.js';

/**
 * Pages of kube-apiserver about itself: /statusz and /flagz, beta and on from 1.36, behind the gates ComponentStatusz and
 * ComponentFlagz before. 1.35 has the structured form as v1alpha1, earlier versions only text, which no version promises to
 * keep: it is the last resort.
 */
export const STATUSZ_ACCEPT = acceptOf('Statusz');
export const FLAGZ_ACCEPT = acceptOf('Flagz');

/** Above what a kube-apiserver sends, about 10 kB. */
export const ZPAGE_BYTES_MAX = 256 * 1024;
/** Flags and words of a page that are kept. */
const FLAGS_MAX = 2_000;
const WORD_CHARS_MAX = 64;

export interface Statusz {
  readonly startedAtMs: number | undefined;
  readonly uptimeSeconds: number | undefined;
  /** `1.36`: the version whose API it has; undefined if it does not say. */
  readonly emulationVersion: string | undefined;
}

/** A page, or why there is none. Both are undefined if the server does not serve it. */
export interface ZpageReading<Page> {
  readonly page: Page | undefined;
  readonly refusal: string | undefined;
}

export interface ZpagesReading {
  readonly statusz: ZpageReading<Statusz>;
  /** Every flag with its value, defaults included, names without dashes. */
  readonly flagz: ZpageReading<ReadonlyMap<string, string>>;
}

export const NO_ZPAGES: ZpagesReading = {
  statusz: { page: undefined, refusal: undefined },
  flagz: { page: undefined, refusal: undefined },
};

/** Reads both pages. Never rejects: a server is judged without them too. */
export async function readZpages(asker: Asker): Promise<ZpagesReading> {
  const [statusz, flagz] = await Promise.all([
    readPage(asker, '/statusz', STATUSZ_ACCEPT, statuszOf),
    readPage(asker, '/flagz', FLAGZ_ACCEPT, flagsOf),
  ]);
  return { statusz, flagz };
}

async function readPage<Page>(
  asker: Asker,
  path: string,
  accept: string,
  parse: (text: string) => Page,
): Promise<ZpageReading<Page>> {
  try {
    return pageOf(path, await asker.request({ method: 'GET', path, accept, bytesMax: ZPAGE_BYTES_MAX }), parse);
  } catch (error) {
    return { page: undefined, refusal: `${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function acceptOf(kind: string): string {
  const json = (version: string) => `application/json;g=config.k8s.io;v=${version};as=${kind}`;
  return `${json('v1beta1')},${json('v1alpha1')},text/plain;q=0.5`;
}

function pageOf<Page>(path: string, { status, text }: Answer, parse: (text: string) => Page): ZpageReading<Page> {
  if (status === 404) return { page: undefined, refusal: undefined };
  if (status === 401 || status === 403) {
    return { page: undefined, refusal: `not allowed to get the non-resource URL ${path}` };
  }
  if (status !== 200) return { page: undefined, refusal: `${path} answered ${status}` };
  return { page: parse(text), refusal: undefined };
}

export function statuszOf(text: string): Statusz {
  const body = parsedObject(text);
  if (body['kind'] !== 'Statusz') return statuszOfText(text);
  const { startTime, uptimeSeconds, emulationVersion } = body;
  return {
    startedAtMs: timeOf(startTime),
    uptimeSeconds: typeof uptimeSeconds === 'number' && uptimeSeconds >= 0 ? uptimeSeconds : undefined,
    emulationVersion: versionOf(emulationVersion),
  };
}

/** The text has one of four delimiters, chosen at random for each reply. */
function statuszOfText(text: string): Statusz {
  const line = (name: string) => new RegExp(`^${name}[:= ] *(.+)$`, 'm').exec(text)?.[1]?.trim();
  const up = /^(\d{1,9}) hr (\d\d) min (\d\d) sec$/.exec(line('Up') ?? '');
  return {
    startedAtMs: timeOf(line('Started')),
    uptimeSeconds: up ? Number(up[1]) * 3_600 + Number(up[2]) * 60 + Number(up[3]) : undefined,
    emulationVersion: versionOf(line('Emulation version')),
  };
}

export function flagsOf(text: string): ReadonlyMap<string, string> {
  const body = parsedObject(text);
  if (body['kind'] !== 'Flagz') return flagsOfText(text);
  const flags = Object.entries(objectMember(body, 'flags'));
  const entries = flags.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Map(entries.slice(0, FLAGS_MAX));
}

function flagsOfText(text: string): ReadonlyMap<string, string> {
  const [, body = ''] = text.split(/^Warning:.*$/m, 2);
  const lines = [...body.matchAll(/^([a-z][a-z0-9-]*)(?:: |[:= ])(.*)$/gm)];
  return new Map(lines.slice(0, FLAGS_MAX).map(([, name, value]) => [name!, value!]));
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value.slice(0, WORD_CHARS_MAX)) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function versionOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{1,4}\.\d{1,4}$/.test(value) ? value : undefined;
}

/**
 * Returns the flags that are not empty, as they would stand on a command line. A reply has all flags, most with their
 * defaults.
 */
export function givenFlags(flags: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...flags].filter(([, value]) => value !== '' && value !== '[]'));
}
