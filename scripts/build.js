// `npm run build`: makes dist/ anew. After the compiler come the data that it does not copy, and the declarations that nobody can
// import are removed. Plain JavaScript, because it runs in `npm ci` of a checkout.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildPage } from './build-page.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** What `exports` of package.json leads to. */
const ENTRY_DECLARATION = join(DIST, 'tools/testing/index.d.ts');

const DATA_FOLDERS = ['aggregation', 'authorization', 'builtin', 'descriptions', 'protobuf'];
const FILES = [
  'apiserver/yaml/yaml-worker.cjs',
  'tools/rehearse/report/html-style.css',
  'tools/testing/index.cjs',
  'tools/testing/index.d.cts',
];

function compile() {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(ROOT, 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

function copyData() {
  for (const folder of DATA_FOLDERS) {
    cpSync(join(ROOT, `src/apiserver/${folder}/data`), join(DIST, `apiserver/${folder}/data`), { recursive: true });
  }
  for (const file of FILES) cpSync(join(ROOT, 'src', file), join(DIST, file));
}

/** Surfaces are a quarter of the package without compression, and each is read once in the life of a process. */
function compressSurfaces() {
  const [from, to] = [join(ROOT, 'src/apiserver/surfaces/data'), join(DIST, 'apiserver/surfaces/data')];
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.json') });
  for (const name of readdirSync(from).filter((each) => each.endsWith('.json'))) {
    writeFileSync(join(to, `${name}.gz`), gzipSync(readFileSync(join(from, name)), { level: 9 }));
  }
}

/** Returns the declarations that the entry needs, itself included. */
function neededDeclarations(entry) {
  const needed = new Set();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (needed.has(file) || !existsSync(file)) continue;
    needed.add(file);
    for (const [, specifier] of readFileSync(file, 'utf8').matchAll(
      /(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g,
    )) {
      waiting.push(resolve(dirname(file), `${specifier}.d.ts`));
    }
  }
  return needed;
}

function removeOtherDeclarations() {
  const needed = neededDeclarations(ENTRY_DECLARATION);
  for (const name of readdirSync(DIST, { recursive: true })) {
    const file = join(DIST, name);
    if (file.endsWith('.d.ts') && !needed.has(file)) rmSync(file);
  }
}

rmSync(DIST, { recursive: true, force: true });
compile();
copyData();
compressSurfaces();
removeOtherDeclarations();
await buildPage(ROOT, join(DIST, 'page'));
