/** One line of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** The families that reports use; a page has thousands of others. */
const WANTED = [
  'kubernetes_feature_enabled',
  'apiserver_rerouted_request_total',
  'apiserver_peer_proxy_errors_total',
  'apiserver_peer_discovery_sync_errors_total',
  'straddle_wrong_404_prevented_total',
  'straddle_peer_usable',
  'straddle_surface_age_seconds',
  'straddle_departed_servers',
  'straddle_departed_since_seconds',
  'straddle_peer_address_conflicts',
  'straddle_peers_left_out',
  'straddle_host_ready',
  'straddle_passthrough',
  'straddle_passthrough_since_seconds',
  'straddle_front_proxy_certificate_expiry_seconds',
] as const;

export type MetricName = (typeof WANTED)[number];

const NAMES: ReadonlySet<string> = new Set(WANTED);
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export class MetricsPage {
  readonly #samples: readonly Sample[];
  /** Families that the page declares, with or without samples. */
  readonly #declared: ReadonlySet<string>;

  constructor(text: string) {
    const samples: Sample[] = [];
    const declared = new Set<string>();
    for (const line of text.split('\n')) {
      if (line.startsWith('# TYPE ')) declared.add(line.split(' ', 3)[2] ?? '');
      else if (!line.startsWith('#')) samples.push(...sampleOf(line));
    }
    this.#samples = samples;
    this.#declared = declared;
  }

  all(name: MetricName): readonly Sample[] {
    return this.#samples.filter((sample) => sample.name === name);
  }

  /** Returns undefined if the page lacks the family. */
  sum(name: MetricName): number | undefined {
    const samples = this.all(name);
    if (samples.length === 0) return this.#declared.has(name) ? 0 : undefined;
    return samples.reduce((total, { value }) => total + value, 0);
  }

  has(name: MetricName): boolean {
    return this.#declared.has(name) || this.all(name).length > 0;
  }

  featureEnabled(gate: string): boolean | undefined {
    const sample = this.all('kubernetes_feature_enabled').find(({ labels }) => labels.get('name') === gate);
    return sample && sample.value === 1;
  }
}

function sampleOf(line: string): Sample[] {
  const match = LINE.exec(line);
  if (!match || !NAMES.has(match[1]!)) return [];
  const value = Number(match[3]);
  if (Number.isNaN(value)) return [];
  const labels = new Map<string, string>();
  for (const [, name, text] of (match[2] ?? '').matchAll(LABEL)) labels.set(name!, unescaped(text!));
  return [{ name: match[1]!, labels, value }];
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}
