import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { type SelectableFields, selectableFieldsOf } from './field-selector-kinds.js';
import { SELECTOR_LENGTH_MAX, SelectorError } from './label-selector.js';

interface FieldRequirement {
  /** The field of the stored object; older names are already translated. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** All requirements must hold; an empty selector matches every object. */
export type FieldSelector = readonly FieldRequirement[];

/** Parses the `fieldSelector` parameter, without a check of its fields. Throws SelectorError with kube-apiserver's words. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text.length > SELECTOR_LENGTH_MAX)
    throw new SelectorError(`selector is longer than ${SELECTOR_LENGTH_MAX} bytes`);
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const at = /!=|==?/.exec(term);
    if (at === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const value = unescapeValue(term.slice(at.index + at[0].length));
    requirements.push({ field: term.slice(0, at.index), operator: at[0] === '!=' ? '!=' : '=', value });
  }
  return requirements;
}

/**
 * The selector with the fields of this kind; throws SelectorError for others. `selectable` overrides the
 * built-in fields: those of a custom resource are its `selectableFields` and two of `metadata`.
 */
export function fieldSelectorForKind(
  selector: FieldSelector,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  selectable: SelectableFields = selectableFieldsOf(kind),
): FieldSelector {
  const translated: FieldRequirement[] = [];
  for (const each of selector) {
    const field = selectable.translate(each.field);
    if (field === undefined) throw new SelectorError(selectable.refusal(each.field));
    // A term without field and value restricts nothing.
    if (field !== '' || each.value !== '') translated.push({ ...each, field });
  }
  return translated;
}

export function matchesFields(selector: FieldSelector, object: JsonObject, selectable?: SelectableFields): boolean {
  return selector.every(({ field, operator, value }) => {
    const actual = selectable?.read?.(object, field) ?? readField(object, field);
    return operator === '=' ? actual === value : actual !== value;
  });
}

/** The only value of a field that can match, if there is one; for `metadata.name` a list becomes a lookup. */
export function requiredFieldValue(selector: FieldSelector, field: string): string | undefined {
  return selector.find((each) => each.field === field && each.operator === '=')?.value;
}

/** The text of a field by its dotted path; empty for a missing one. */
function readField(object: JsonObject, path: string): string {
  let value: Json | undefined = object;
  for (const part of path.replace(/^\./, '').split('.')) {
    value = isObject(value) ? member(value, part) : undefined;
  }
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  let escaped = false;
  for (const char of text) {
    if (char === ',' && !escaped) {
      terms.push(term);
      term = '';
    } else {
      term += char;
    }
    escaped = !escaped && char === '\\';
  }
  terms.push(term);
  return terms;
}

function unescapeValue(text: string): string {
  let value = '';
  let escaped = false;
  for (const char of text) {
    if (escaped) {
      if (!'\\,='.includes(char)) throw new SelectorError(`invalid field selector: invalid escape sequence: \\${char}`);
      value += char;
      escaped = false;
    } else if (char === '\\') {
      escaped = true;
    } else if (char === ',' || char === '=') {
      // kube-apiserver prints the character's number.
      throw new SelectorError(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`);
    } else {
      value += char;
    }
  }
  if (escaped) throw new SelectorError('invalid field selector: invalid escape sequence: \\');
  return value;
}
