/**
 * Counters, gauges and histograms in the text format of Prometheus.
 *
 * Each labelled child is found by one map look-up on the joined label values, so the hot path can
 * also keep a child and pay nothing. The number of children per family is bounded: some label
 * values are from clients.
 */
const CHILDREN_MAX = 20_000;

export interface Counter {
  inc(by?: number): void;
}

export interface Gauge {
  set(value: number): void;
  inc(by?: number): void;
}

export interface Histogram {
  observe(value: number): void;
}

export interface Family<Child, Values extends string[] = string[]> {
  /**
   * Returns the child for label values, in the order of declaration. Beyond the bound, all values
   * share one child `other`.
   */
  labels(...values: Values): Child;
  /** Removes every child: for gauges that a collector fills for each page. */
  reset(): void;
}

type MetricType = 'counter' | 'gauge' | 'histogram';

/** What a family is called and labelled; children of a histogram are rendered as `_bucket` (label `le`), `_sum` and `_count`. */
export interface MetricDeclaration {
  readonly name: string;
  readonly kind: MetricType;
  readonly labelNames: readonly string[];
}

/** Metrics of one process in a form that can be sent to another one and summed there. */
export type MetricExport = readonly FamilyExport[];

export interface FamilyExport {
  readonly name: string;
  readonly kind: MetricType;
  /** Key and label text of a child, and its numbers. */
  readonly children: readonly (readonly [key: string, labels: string, numbers: readonly number[]])[];
}

interface AnyFamily extends MetricDeclaration {
  render(): string;
  export(): FamilyExport;
  add(exported: FamilyExport): void;
}

export class MetricRegistry {
  readonly #families: AnyFamily[] = [];
  readonly #collectors: (() => void)[] = [];

  counter<Values extends string[] = string[]>(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
  ): Family<Counter, Values> {
    return this.#add(new LabelledFamily('counter', name, help, labelNames, () => new NumberChild()));
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Family<Gauge> {
    return this.#add(new LabelledFamily('gauge', name, help, labelNames, () => new NumberChild()));
  }

  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    labelNames: readonly string[] = [],
  ): Family<Histogram> {
    return this.#add(new LabelledFamily('histogram', name, help, labelNames, () => new HistogramChild(bounds)));
  }

  /** Returns every family, in the order of declaration. */
  declared(): readonly MetricDeclaration[] {
    return this.#families;
  }

  /** Registers a function that fills gauges with current values before each page or export. */
  collect(fill: () => void): void {
    this.#collectors.push(fill);
  }

  render(): string {
    for (const fill of this.#collectors) fill();
    return this.#families.map((family) => family.render()).join('');
  }

  export(): MetricExport {
    for (const fill of this.#collectors) fill();
    return this.#families.map((family) => family.export());
  }

  /** Adds the metrics of a process with the same families. Gauges must be meaningful as a sum. */
  add(exported: MetricExport): void {
    const byName = new Map(this.#families.map((family) => [family.name, family]));
    for (const family of exported) byName.get(family.name)?.add(family);
  }

  #add<F extends AnyFamily>(family: F): F {
    this.#families.push(family);
    return family;
  }
}

interface Child {
  render(name: string, labels: string): string;
  /** All values of the child, as input of `add` of another child of the same family. */
  numbers(): number[];
  add(numbers: readonly number[]): void;
}

class LabelledFamily<C extends Child> implements Family<C>, AnyFamily {
  readonly #children = new Map<string, { labels: string; child: C }>();

  constructor(
    readonly kind: MetricType,
    readonly name: string,
    readonly help: string,
    readonly labelNames: readonly string[],
    readonly make: () => C,
  ) {}

  labels(...values: string[]): C {
    const key = values.length === 1 ? values[0]! : values.join('\u0000');
    const known = this.#children.get(key);
    if (known) return known.child;
    if (this.#children.size >= CHILDREN_MAX) return this.#overflow();
    return this.#create(key, values);
  }

  reset(): void {
    this.#children.clear();
  }

  render(): string {
    let text = `# HELP ${this.name} ${this.help}\n# TYPE ${this.name} ${this.kind}\n`;
    for (const { labels, child } of this.#children.values()) text += child.render(this.name, labels);
    return text;
  }

  export(): FamilyExport {
    const children = [...this.#children].map(([key, { labels, child }]) => [key, labels, child.numbers()] as const);
    return { name: this.name, kind: this.kind, children };
  }

  add({ children }: FamilyExport): void {
    for (const [key, labels, numbers] of children) {
      const known = this.#children.get(key)?.child;
      const child = known ?? (this.#children.size >= CHILDREN_MAX ? this.#overflow() : this.#keep(key, labels));
      child.add(numbers);
    }
  }

  #overflow(): C {
    const values = this.labelNames.map(() => 'other');
    return this.#children.get(values.join('\u0000'))?.child ?? this.#create(values.join('\u0000'), values);
  }

  #create(key: string, values: readonly string[]): C {
    const labels = this.labelNames.map((name, i) => `${name}="${escapeValue(values[i] ?? '')}"`).join(',');
    return this.#keep(key, labels);
  }

  #keep(key: string, labels: string): C {
    const child = this.make();
    this.#children.set(key, { labels, child });
    return child;
  }
}

class NumberChild implements Child, Counter, Gauge {
  #value = 0;

  inc(by = 1): void {
    this.#value += by;
  }

  set(value: number): void {
    this.#value = value;
  }

  numbers(): number[] {
    return [this.#value];
  }

  add([value = 0]: readonly number[]): void {
    this.#value += value;
  }

  render(name: string, labels: string): string {
    return `${name}${labels === '' ? '' : `{${labels}}`} ${this.#value}\n`;
  }
}

class HistogramChild implements Child, Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count += 1;
    const bounds = this.#bounds;
    for (let i = 0; i < bounds.length; i++) {
      if (value <= bounds[i]!) {
        this.#counts[i]! += 1;
        return;
      }
    }
  }

  numbers(): number[] {
    return [this.#sum, this.#count, ...this.#counts];
  }

  add([sum = 0, count = 0, ...counts]: readonly number[]): void {
    this.#sum += sum;
    this.#count += count;
    for (let i = 0; i < this.#counts.length; i++) this.#counts[i]! += counts[i] ?? 0;
  }

  render(name: string, labels: string): string {
    const prefix = labels === '' ? '' : `${labels},`;
    let text = '';
    let cumulative = 0;
    for (let i = 0; i < this.#bounds.length; i++) {
      cumulative += this.#counts[i]!;
      text += `${name}_bucket{${prefix}le="${this.#bounds[i]}"} ${cumulative}\n`;
    }
    const braces = labels === '' ? '' : `{${labels}}`;
    text += `${name}_bucket{${prefix}le="+Inf"} ${this.#count}\n`;
    return `${text}${name}_sum${braces} ${this.#sum}\n${name}_count${braces} ${this.#count}\n`;
  }
}

function escapeValue(value: string): string {
  return value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
}
