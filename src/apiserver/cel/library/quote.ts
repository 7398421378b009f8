import { NAMED_ESCAPES } from '../../values/go-quote.js';

/** A text as a literal; unlike Go's `%q`, it escapes only characters with a named escape. */
export function quote(text: string): string {
  return `"${text.replace(/[\x07\b\f\n\r\t\v\\"]/g, (each) => NAMED_ESCAPES[each]!)}"`;
}
