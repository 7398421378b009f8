#!/usr/bin/env node
import { existsSync } from 'node:fs';

const entry = new URL('../dist/cli/main.js', import.meta.url);
if (!existsSync(entry)) {
  process.stderr.write('straddle: not built yet. Run `npm ci` (it builds), or `npm run build`.\n');
  process.exit(1);
}
await import(entry.href);
