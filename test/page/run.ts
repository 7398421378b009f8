/** `npm run test:page`: the page at /straddle/ in Debian's Chromium, as `npm run build` made it, under the policy of the product. */
import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { requireProgram } from '../real/rig/debian-program.js';
import { within } from '../real/rig/eventually.js';
import { accessCases } from './access-cases.js';
import { withBrowser } from './browser.js';
import { changeCases } from './change-cases.js';
import { layoutCases } from './layout-cases.js';
import type { PageCase } from './page-case.js';
import { PageServer } from './page-server.js';
import { upgradeState } from './states.js';
import { viewCases } from './view-cases.js';

const USAGE = `Usage: npm run test:page -- [<beginning of a name> …]

Opens the page in Chromium (Debian package chromium) against a small server with states that change: each view, a server that dies,
an upgrade, narrow and wide screens, the keyboard, axe-core, and the content security policy. Run \`npm run build\` first.

  <beginning>   only cases whose names begin with this: verdict, servers, skew, flow, connection, axe, keyboard, layout, …
`;

const ALL: readonly PageCase[] = [...viewCases, ...changeCases, ...accessCases, ...layoutCases];
const CASE_TIMEOUT_MS = 60_000;
const LISTEN = `window.violations = [];
addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
  window.violations.push([violatedDirective, blockedURI, sample].join(' '));
});`;

/** Faults that no case may have: errors of scripts, violations of the policy, requests to others. */
function faultsOf(page: Page, server: PageServer): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`an error of the page: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy|refused to/i.test(message.text())) faults.push(`the policy: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(new URL('/', server.url).href) && !url.startsWith('data:')) faults.push(`a request to ${url}`);
  });
  return faults;
}

async function runCase(browser: Browser, each: PageCase): Promise<boolean> {
  const startedMs = Date.now();
  const server = new PageServer((each.state ?? upgradeState)());
  const context = await browser.newContext({ timezoneId: 'UTC', ...each.browser });
  let told: string | undefined;
  let failure: Error | undefined;
  try {
    await server.listen();
    const page = await context.newPage();
    const faults = faultsOf(page, server);
    await page.addInitScript(LISTEN);
    const open = async (): Promise<void> => {
      await page.goto(server.url);
      await page.locator('#verdict h2').waitFor({ timeout: 15_000 });
    };
    const world = { page, server, open };
    await each.before?.(world);
    told = await within(each.name, CASE_TIMEOUT_MS, each.run(world));
    const violations = (await page.evaluate('window.violations ?? []')) as string[];
    faults.push(...violations.map((text) => `the policy: ${text}`));
    if (faults.length > 0) throw new Error([...new Set(faults)].join('\n'));
  } catch (error) {
    failure = error as Error;
  } finally {
    await context.close();
    await server.close();
  }
  const took = `${((Date.now() - startedMs) / 1000).toFixed(1)}s`;
  const detail = told === undefined ? '' : ` (${told})`;
  process.stdout.write(`${failure ? 'FAIL' : 'ok  '} ${each.name}${detail}  ${took}\n`);
  if (failure) process.stdout.write(`${failure.message.replace(/^/gm, '        ')}\n`);
  return failure === undefined;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (!existsSync(new URL('../../dist/page/app.js', import.meta.url)))
    throw new Error('there is no dist/page/: run `npm run build` first');
  const chosen = ALL.filter(({ name }) => args.length === 0 || args.some((arg) => name.startsWith(arg)));
  if (chosen.length === 0) {
    process.stderr.write(`no case of ${args.join(', ')}\n\n${USAGE}`);
    return 2;
  }
  const passed = await withBrowser(requireProgram('chromium', 'chromium'), async (browser) => {
    let count = 0;
    for (const each of chosen) if (await runCase(browser, each)) count += 1;
    return count;
  });
  const failed = chosen.length - passed;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
