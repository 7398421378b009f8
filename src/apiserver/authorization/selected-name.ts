import { type FieldSelector, parseFieldSelector, requiredFieldValue } from '../select/field-selector.js';
import { SelectorError } from '../select/label-selector.js';

/**
 * The one name that a list, watch or deletion of many is limited to by `fieldSelector=metadata.name=…`; empty for none. A
 * right on that name is enough for such a request.
 */
export function selectedName(fieldSelector: string): string {
  const name = requiredFieldValue(parsed(fieldSelector), 'metadata.name') ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

/** The request is refused later for a selector that cannot be read. */
function parsed(fieldSelector: string): FieldSelector {
  try {
    return parseFieldSelector(fieldSelector);
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}
