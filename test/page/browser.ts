import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** No request of the browser itself, and no sandbox: root, who runs CI, has none. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Debian's Chromium, which keeps its files in a folder of its own that goes when it ends. */
export async function withBrowser<T>(program: string, run: (browser: Browser) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'straddle-chromium-'));
  const browser = await chromium.launch({
    executablePath: program,
    args: FLAGS,
    // Crash reports and caches of fonts would go to the user's folders otherwise.
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home } as Record<string, string>,
  });
  try {
    return await run(browser);
  } finally {
    await browser.close();
    rmSync(home, { recursive: true, force: true });
  }
}
