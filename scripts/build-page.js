// The page at /straddle/: `page/` becomes dist/page/app.js and dist/page/app.css. Plain JavaScript, because it is a part of
// `npm run build`. The same sources give the same bytes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

/** Packages whose code is in app.js and app.css. Their licences ask for their text in every copy. */
export const BUNDLED_PACKAGES = ['preact', 'uplot'];

/** Browsers that know `light-dark()` of CSS, which are those since May 2024. */
const TARGETS = ['chrome123', 'firefox120', 'safari17.5'];

export async function buildPage(root, outDir) {
  await build({
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
  const notice = licenceNotice(root);
  for (const name of ['app.js', 'app.css']) {
    const file = join(outDir, name);
    writeFileSync(file, `${notice}${readFileSync(file, 'utf8')}`);
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
