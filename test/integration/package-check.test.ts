import { describe, expect, it } from 'vitest';
import { type PackedPackage, packageProblems, UNPACKED_BYTES_MAX } from '../../scripts/package-check.js';

const PAGE_NOTICE = '/*!\nContains software of others:\n*/';
const MANIFEST = { bin: { straddle: 'bin/straddle.js' }, exports: { './testing': { import: './dist/index.js' } } };

function packageOf(texts: Record<string, string>, unpackedSize = 1_000): PackedPackage {
  const all: Record<string, string> = {
    'package.json': JSON.stringify(MANIFEST),
    'bin/straddle.js': '',
    'dist/index.js': '',
    'dist/page/app.css': PAGE_NOTICE,
    'dist/page/app.js': PAGE_NOTICE,
    ...texts,
  };
  return { unpackedSize, files: Object.keys(all), read: (path) => all[path]! };
}

describe('the check of the package', () => {
  it('accepts a small package with its entries and links', () => {
    const texts = {
      'README.md': '[a](docs/a.md#part) [b](https://example.com) [c](#here) [d](docs/)',
      'docs/a.md': '',
    };
    expect(packageProblems(packageOf(texts))).toEqual([]);
  });

  it.each<[string, PackedPackage, RegExp]>([
    ['too many bytes', packageOf({}, UNPACKED_BYTES_MAX), /must stay below/],
    ['a source map', packageOf({ 'dist/index.js.map': '{}' }), /a source map/],
    ['a reference to a source map', packageOf({ 'dist/index.js': 'x\n//# sourceMappingURL=a' }), /names a source map/],
    ['a file of another package', packageOf({ 'examples/a/node_modules/b/c.js': '' }), /another package/],
    [
      'a picture that the page does not need',
      packageOf({ 'dist/page/logo.png': PAGE_NOTICE }),
      /dist\/page has .*logo\.png/,
    ],
    ['bundled software without its licence', packageOf({ 'dist/page/app.js': 'x' }), /app\.js: has no licences/],
    ['a broken link', packageOf({ 'docs/a.md': '[x](../src/y.ts)' }), /docs\/a\.md: links to \.\.\/src\/y\.ts/],
    [
      'an install script',
      packageOf({ 'package.json': JSON.stringify({ ...MANIFEST, scripts: { postinstall: 'x' } }) }),
      /a script postinstall/,
    ],
    [
      'an entry that is missing',
      packageOf({ 'package.json': JSON.stringify({ exports: { '.': { require: './no.cjs' } } }) }),
      /names \.\/no\.cjs/,
    ],
  ])('finds %s', (_, packed, problem) => {
    expect(packageProblems(packed)).toEqual([expect.stringMatching(problem)]);
  });
});
