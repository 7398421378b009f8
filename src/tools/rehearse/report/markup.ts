import { printable } from './words.js';

/** Text that is HTML or SVG already; only `markup` makes it. */
export class Markup {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

export type Part = string | number | Markup | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template whose literal parts are HTML and whose values are text: these are escaped, without any way to forget it, for
 * an element's content and for quoted attributes alike. Markup within markup stays what it is; undefined is nothing.
 */
export function markup(literals: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return new Markup(
    literals.map((literal, index) => (index === 0 ? '' : render(values[index - 1])) + literal).join(''),
  );
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(render).join('');
  return printable(String(part)).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
