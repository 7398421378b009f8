import { printable } from './printable.js';

/** HTML or SVG text; made by `markup`. */
export class Markup {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

type Part = string | number | Markup | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Template tag: literal parts are HTML, values are text, which is always escaped, for content of
 * elements and quoted attributes. Markup values are not escaped again; undefined is empty.
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
