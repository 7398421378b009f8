// The page at /straddle/: `page/` becomes dist/page/app.js and dist/page/app.css. Plain JavaScript, because it is a part of
// `npm run build`. The same sources give the same bytes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

/** Packages whose code is in app.js and app.css. Their licences ask for their text in every copy, and the image lists them. */
const BUNDLED_PACKAGES = JSON.parse(readFileSync(new URL('bundled-packages.json', import.meta.url), 'utf8'));

/** Browsers that know `light-dark()` of CSS, which are those since May 2024. */
const TARGETS = ['chrome123', 'firefox120', 'safari17.5'];

export async function buildPage(root, outDir) {
  const { output } = await build({
    configFile: false,
    envDir: false,
    root: join(root, 'page'),
    base: './',
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: TARGETS,
      cssTarget: TARGETS,
      sourcemap: false,
      cssCodeSplit: false,
      modulePreload: false,
      reportCompressedSize: false,
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: join(root, 'page/main.tsx'),
        output: { entryFileNames: 'app.js', assetFileNames: 'app[extname]', codeSplitting: false },
      },
    },
  });
  checkPackages(output);
  const notice = licenceNotice(root);
  for (const name of ['app.js', 'app.css']) {
    const file = join(outDir, name);
    writeFileSync(file, `${notice}${readFileSync(file, 'utf8')}`);
  }
}

/** Nothing of others may be in the page without its licence. */
function checkPackages(output) {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds);
  const names = modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  const found = [...new Set(names)].sort();
  if (found.join() !== BUNDLED_PACKAGES.join()) {
    throw new Error(
      `the page has code of ${found.join(', ')}; scripts/bundled-packages.json says ${BUNDLED_PACKAGES.join(', ')}`,
    );
  }
}

function licenceNotice(root) {
  const texts = BUNDLED_PACKAGES.map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}`;
  });
  return `/*!\nContains software of others:\n\n${texts.join('\n\n').replaceAll('*/', '* /')}\n*/\n`;
}
