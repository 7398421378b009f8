import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LIMIT_NAMES } from '../base/error-types.js';
import { errorsReference, INTERNAL_ERRORS, VISIBLE_ERRORS } from './errors-reference.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Error classes of the program by name, with the files that declare them. */
function declaredErrors(): Map<string, string[]> {
  const declared = new Map<string, string[]>();
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
    .sort();
  for (const path of sources) {
    const text = readFileSync(join(ROOT, 'src', path), 'utf8');
    for (const [, name] of text.matchAll(/^(?:export )?class (\w+) extends \w*Error\b/gm)) {
      declared.set(name!, [...(declared.get(name!) ?? []), `src/${path}`]);
    }
  }
  return declared;
}

describe('the catalogue of errors', () => {
  it('has the committed reference page', async () => {
    await expect(errorsReference()).toMatchFileSnapshot(join(ROOT, 'docs/reference/errors.md'));
  });

  it('lists every error class of the program once, as visible or as internal', () => {
    const listed = [...Object.keys(VISIBLE_ERRORS), ...Object.keys(INTERNAL_ERRORS)];
    expect(listed.toSorted()).toEqual([...declaredErrors().keys()].toSorted());
  });

  it('names the files of visible errors', () => {
    const declared = declaredErrors();
    for (const [name, { source }] of Object.entries(VISIBLE_ERRORS)) {
      expect(source.split(', ').toSorted(), name).toEqual(declared.get(name));
    }
  });

  it('has only limits that the page of limits explains', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/limits.md'), 'utf8');
    for (const name of Object.keys(LIMIT_NAMES)) expect(page).toContain(`\`${name}\``);
  });
});
