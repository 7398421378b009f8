import { type FieldSelector, parseFieldSelector, requiredFieldValue } from '../select/field-selector.js';
import { SelectorError } from '../select/label-selector.js';

/**
 * Returns the name to which `fieldSelector=metadata.name=…` limits a list, watch or
 * deletecollection; empty for none. A right on that name is enough for such a request.
 */
export function selectedName(fieldSelector: string): string {
  const name = requiredFieldValue(parsed(fieldSelector), 'metadata.name') ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

/** Returns an empty selector for a malformed one: the verb refuses it later. */
function parsed(fieldSelector: string): FieldSelector {
  try {
    return parseFieldSelector(fieldSelector);
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}
