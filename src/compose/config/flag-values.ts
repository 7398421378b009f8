import { isIP } from 'node:net';
import type { Layer } from './config-file.js';
import { defaultOf, type Flag, type FlagCommand, type FlagKind } from './flag.js';
import { type AnyFlag, type FlagName, flagNamed } from './flags.js';
import { parseGoDurationMs } from './go-duration.js';
import { nearest } from './nearest.js';

type NameOf<Kind extends FlagKind> = Extract<AnyFlag, { readonly kind: Kind }>['name'];

/** A value as it was written, and where. */
interface Written {
  readonly texts: readonly string[];
  readonly layer: Layer | undefined;
}

const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1_024, MiB: 1_048_576 };

/**
 * Reads flags out of layers, most important layer first, each by the kind its name has in the table. Wrong values are
 * collected in `problems`, and something of the right type is returned meanwhile so that one run finds them all.
 */
export class FlagValues {
  readonly problems: string[] = [];
  readonly notes: string[] = [];
  readonly #layers: readonly Layer[];
  readonly #command: FlagCommand;

  /** `command` decides which defaults hold. */
  constructor(layers: readonly Layer[], command: FlagCommand) {
    this.#layers = layers;
    this.#command = command;
  }

  /** Where a flag was given, or undefined where its default holds. */
  source(name: FlagName): Layer['source'] | undefined {
    return this.#written(name).layer?.source;
  }

  /** Empty counts as absent, as it does for kube-apiserver. */
  file(name: NameOf<'file'>): string | undefined {
    return this.#one(name).text || undefined;
  }

  text(name: NameOf<'text'>): string {
    return this.#one(name).text;
  }

  ip(name: NameOf<'ip'>): string | undefined {
    const { text, layer } = this.#one(name);
    if (text === '') return undefined;
    if (isIP(text) === 0) this.#wrong(name, text, layer, 'an IP address such as 10.0.0.1');
    return text;
  }

  port(name: NameOf<'port'>): number | undefined {
    const { text, layer } = this.#one(name);
    if (text === '') return undefined;
    const min = this.#flag(name).min ?? 1;
    return this.#whole(name, text, layer, min, 65_535, `a port from ${min} to 65535`);
  }

  /** Undefined only for a flag without default that was not given. */
  count(name: NameOf<'count'>): number | undefined {
    const { text, layer } = this.#one(name);
    if (text === '' && layer === undefined) return undefined;
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = this.#flag(name);
    return this.#whole(name, text, layer, min, max, min === max ? `${min}` : `a whole number from ${min} to ${max}`);
  }

  bytes(name: NameOf<'bytes'>): number {
    const { text, layer } = this.#one(name);
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = this.#flag(name);
    const [, digits, unit = ''] = /^(\d+)(KiB|MiB)?$/.exec(text) ?? [];
    const bytes = digits === undefined ? Number.NaN : Number(digits) * BYTE_UNITS[unit]!;
    if (!(bytes >= min && bytes <= max)) {
      this.#wrong(name, text, layer, `a size from ${min} to ${max} bytes, such as 65536 or 64KiB`);
    }
    return bytes;
  }

  durationMs(name: NameOf<'duration'>): number {
    const { text, layer } = this.#one(name);
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = this.#flag(name) as Flag;
    const durationMs = parseGoDurationMs(text);
    if (durationMs === undefined)
      this.#wrong(name, text, layer, 'a duration with its unit, such as 500ms, 30s or 1h30m');
    else if (durationMs < min) this.#wrong(name, text, layer, `at least ${min}ms`);
    else if (durationMs > max) this.#wrong(name, text, layer, `at most ${max / 3_600_000}h`);
    return durationMs ?? 0;
  }

  choice<Choice extends string>(name: NameOf<'choice'>): Choice {
    const { text, layer } = this.#one(name);
    const choices = this.#flag(name).choices ?? [];
    if (!choices.includes(text)) this.#wrong(name, text, layer, choices.join(', '), nearest(text, choices));
    return text as Choice;
  }

  list(name: NameOf<'list' | 'urls' | 'choices'>): readonly string[] {
    const { texts, layer } = this.#written(name);
    const items = texts.flatMap((text) => text.split(',')).map((item) => item.trim());
    const filled = items.filter((item) => item !== '');
    const choices = this.#flag(name).choices;
    for (const item of filled) {
      if (choices && !choices.includes(item)) {
        this.#wrong(name, item, layer, `any of ${choices.join(', ')}`, nearest(item, choices));
      }
    }
    return [...new Set(filled)];
  }

  /** Header names or prefixes. Invalid ones are refused, because they would never match. */
  headerNames(name: NameOf<'list'>): readonly string[] {
    const names = this.list(name);
    for (const header of names) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)) {
        this.#wrong(name, header, this.#written(name).layer, 'names of HTTP headers');
      }
    }
    return names;
  }

  /** https only, because requests carry identities and tokens. */
  url(name: NameOf<'url'>): URL {
    const { text, layer } = this.#one(name);
    return this.#httpsUrl(name, text, layer) ?? new URL('https://invalid.invalid');
  }

  urls(name: NameOf<'urls'>): readonly URL[] {
    const { layer } = this.#written(name);
    return this.list(name).flatMap((text) => this.#httpsUrl(name, text, layer) ?? []);
  }

  /** Merges the gates of all layers; the more important layer wins for each gate. */
  gates<Gate extends string>(name: NameOf<'gates'>, defaults: Readonly<Record<Gate, boolean>>): Record<Gate, boolean> {
    const gates = { ...defaults };
    for (const layer of this.#layers.toReversed()) {
      for (const item of (layer.values.get(name) ?? []).flatMap((text) => text.split(','))) {
        if (item.trim() !== '') this.#readGate(name, item.trim(), layer, gates);
      }
    }
    return gates;
  }

  #readGate(name: FlagName, item: string, layer: Layer, gates: Record<string, boolean>): void {
    const [gate = '', on = '', ...rest] = item.split('=').map((part) => part.trim());
    const value = /^(?:true|t|1)$/i.test(on) ? true : /^(?:false|f|0)$/i.test(on) ? false : undefined;
    if (gate === 'AllAlpha' || gate === 'AllBeta') return;
    if (!Object.hasOwn(gates, gate)) {
      if (layer.source === 'kube-apiserver') {
        this.notes.push(`Left to kube-apiserver, from ${layer.origin}: feature gate ${gate}.`);
        return;
      }
      const suggestion = nearest(gate, Object.keys(gates));
      const hint = suggestion ? ` Did you mean ${suggestion}?` : ` Straddle has ${Object.keys(gates).join(', ')}.`;
      this.problems.push(`Unknown feature gate ${gate} in --${name}${from(layer)}.${hint}`);
    } else if (value === undefined || rest.length > 0) {
      this.#wrong(name, item, layer, `${gate}=true or ${gate}=false`);
    } else {
      gates[gate] = value;
    }
  }

  #httpsUrl(name: FlagName, text: string, layer: Layer | undefined): URL | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const example = 'https://10.0.0.2:6443';
    if (!url?.hostname || !['https:', 'http:'].includes(url.protocol)) {
      this.#wrong(name, text, layer, `a URL such as ${example}`);
      return undefined;
    }
    if (url.protocol !== 'https:') {
      this.#wrong(name, text, layer, `an https URL such as ${example}; Straddle speaks to servers over TLS only`);
      return undefined;
    }
    if (url.username || url.password || url.search || url.hash || (url.pathname !== '/' && url.pathname !== '')) {
      this.#wrong(name, text, layer, `only scheme, host and port, such as ${example}`);
      return undefined;
    }
    return url;
  }

  #whole(name: FlagName, text: string, layer: Layer | undefined, min: number, max: number, wanted: string): number {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) this.#wrong(name, text, layer, wanted);
    return value;
  }

  #one(name: FlagName): { readonly text: string; readonly layer: Layer | undefined } {
    const { texts, layer } = this.#written(name);
    return { text: (texts.at(-1) ?? '').trim(), layer };
  }

  #written(name: FlagName): Written {
    for (const layer of this.#layers) {
      const texts = layer.values.get(name);
      if (texts) return { texts, layer };
    }
    const standard = defaultOf(this.#flag(name), this.#command);
    return { texts: standard === undefined ? [] : [standard], layer: undefined };
  }

  #flag(name: FlagName): Flag {
    return flagNamed(name)!;
  }

  #wrong(name: FlagName, text: string, layer: Layer | undefined, wanted: string, suggestion?: string): void {
    const flag = this.#flag(name);
    const spelling = flag.short ? `-${flag.short}` : `--${name}`;
    const hint = suggestion ? ` Did you mean ${suggestion}?` : '';
    this.problems.push(`${spelling}${from(layer)} is "${text}"; it must be ${wanted}.${hint}`);
  }
}

function from(layer: Layer | undefined): string {
  return layer?.origin ? ` (from ${layer.origin})` : '';
}
