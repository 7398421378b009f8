// Copies to dist what the compiler does not: data (surfaces, priorities, roles, messages, shapes), a worker thread in plain JavaScript, a
// style sheet.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
for (const folder of ['surfaces', 'aggregation', 'authorization', 'builtin', 'protobuf']) {
  cpSync(at(`../src/apiserver/${folder}/data`), at(`../dist/apiserver/${folder}/data`), { recursive: true });
}
for (const file of ['apiserver/yaml/yaml-worker.cjs', 'tools/rehearse/report/html-style.css']) {
  cpSync(at(`../src/${file}`), at(`../dist/${file}`));
}
