import type { BrowserContextOptions, Page } from 'playwright-core';
import type { PageState } from '../../src/proxy/page/page-state.js';
import type { PageServer } from './page-server.js';

export interface PageCase {
  /** The view or the subject first, then the behaviour. */
  readonly name: string;
  /** What the server has at first. Default: an upgrade at half time. */
  readonly state?: () => PageState;
  readonly browser?: BrowserContextOptions;
  /** What happens between the context and the first request. */
  readonly before?: (world: PageWorld) => Promise<void> | void;
  /** Throws if the page shows something else. Returns text to print beside the name, if any. */
  run(world: PageWorld): Promise<string | undefined>;
}

export interface PageWorld {
  readonly page: Page;
  readonly server: PageServer;
  /** Loads the page, and waits for the first state. */
  open(): Promise<void>;
}

export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

export function same(what: string, found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${what}: ${left}, expected ${right}`);
}

export function has(what: string, text: string | null, part: string | RegExp): void {
  const isThere = typeof part === 'string' ? text?.includes(part) : part.test(text ?? '');
  if (!isThere) throw new Error(`${what}: ${JSON.stringify(text)} has no ${String(part)}`);
}

/** The text that is seen, with single spaces. */
export async function shown(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).innerText()).replace(/\s+/g, ' ').trim();
}

/** Waits until a place shows a text. */
export async function until(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor({ timeout: 15_000 });
}

/** Texts of a row, from left to right. */
export async function cellsOf(page: Page, row: string): Promise<string[]> {
  const cells = await page.locator(`${row} > *`).allInnerTexts();
  return cells.map((text) => text.replace(/\s+/g, ' ').trim());
}
