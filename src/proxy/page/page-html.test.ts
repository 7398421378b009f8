import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadPageAssets } from './page-assets.js';
import { type PageContent, pageHtml } from './page-html.js';

const CONTENT: PageContent = {
  server: '<cp-1>',
  atMs: Date.UTC(2030, 0, 1),
  verdict: {
    may: 'no',
    sentence: 'not now: only <script>alert(1)</script> serves it',
    reasons: [{ id: 'sole-server', text: 'why', remedy: 'straddle gate --server="x"', isCommand: true }],
  },
  servers: [
    {
      ...{ name: 'cp-2', isThis: false, version: 'v1.37.1', emulatedVersion: '1.36', state: 'down', endpoints: [] },
      ...{ detail: 'connection "refused"', leaseRenewedAtMs: 0, surfaceAtMs: null, inFlight: 0 },
      ...{ certificateExpiresAtMs: null, passthrough: null },
    },
  ],
};

describe('HTML of the page', () => {
  it('has verdict, reasons and servers as text, with all text of servers escaped', () => {
    const html = pageHtml(CONTENT, new Set<string>());
    expect(html).toContain('<h1>No: do not replace a server now</h1>');
    expect(html).toContain('only &lt;script&gt;alert(1)&lt;/script&gt; serves it');
    expect(html).toContain('<strong>sole-server</strong>: why. <code>straddle gate --server=&quot;x&quot;</code>');
    expect(html).toContain('v1.37.1, as 1.36');
    expect(html).toContain('down: connection &quot;refused&quot;');
    expect(html).toContain('1970-01-01T00:00:00Z');
    expect(html).not.toMatch(/<script|<style|<link/);
  });

  it('refers to the files that were built, and to nothing else', () => {
    const html = pageHtml(CONTENT, new Set(['app.js', 'app.css', 'icon.svg']));
    expect([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)).toEqual([
      'assets/icon.svg',
      'assets/app.css',
      'assets/app.js',
    ]);
  });
});

describe('built files of the page', () => {
  it('are read from the first folder that has some, with type and tag', () => {
    const folder = mkdtempSync(join(tmpdir(), 'straddle-page-'));
    try {
      for (const name of ['app.js', 'app.css', 'app.js.map', '.hidden.js', 'notes.txt'])
        writeFileSync(join(folder, name), name);
      const folders = [`${folder}/none/`, `${folder}/`].map((path) => pathToFileURL(path));
      const assets = loadPageAssets(folders);
      expect([...assets.keys()].sort()).toEqual(['app.css', 'app.js']);
      expect(assets.get('app.js')).toMatchObject({
        contentType: 'text/javascript; charset=utf-8',
        etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
