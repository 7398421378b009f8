import type { Page } from 'playwright-core';
import { has, type PageCase, PHONE, same, shown, until } from './page-case.js';
import { flowRow, flowSeconds, largeState, upgradeState } from './states.js';

/** Rows in the document, of 5,000: those in sight and a few more. */
const DRAWN_ROWS_MAX = 100;
const FRAMES = 90;
/** A fast turn of the wheel: four rows and a half in each frame. */
const SCROLL_PIXELS = 120;
/**
 * Scripts, styles and layout of a frame: two of 60 a second, for a slow machine. CPU time, so that other programs do not count; without
 * painting, which a graphics processor does elsewhere.
 */
const CPU_MS_MAX = 33;
const COUNTED = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];

async function overflow(page: Page): Promise<number> {
  return (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number;
}

const widthCase = (width: number, height: number, state?: PageCase['state']): PageCase => ({
  name: `layout: ${width} px${state ? ' with 50 servers' : ''} without scrolling sideways`,
  ...(state ? { state } : {}),
  browser: { ...(width <= 480 ? PHONE : {}), viewport: { width, height } },
  async run({ page, open }) {
    await open();
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    same('pixels beyond the right edge', await overflow(page), 0);
    return undefined;
  },
});

/** CPU time that the page takes for a frame while something happens in each of them. */
async function cpuMsOfFrame(page: Page, each: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busySeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.filter(({ name }) => COUNTED.includes(name)).reduce((sum, { value }) => sum + value, 0);
  };
  const before = await busySeconds();
  await page.evaluate(`new Promise((resolve) => {
    let frame = 0;
    const step = () => {
      frame += 1;
      if (frame > ${FRAMES}) return resolve();
      ${each};
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
  return ((await busySeconds()) - before) * (1_000 / FRAMES);
}

export const layoutCases: readonly PageCase[] = [
  widthCase(360, 740),
  widthCase(390, 844),
  widthCase(390, 844, largeState),
  widthCase(768, 1024),
  widthCase(1440, 900),
  widthCase(1920, 1080, largeState),
  widthCase(3840, 2160),
  {
    name: 'layout: at 390 px each server is a card with all its fields in sight',
    browser: PHONE,
    async run({ page, open }) {
      await open();
      const outside = await page
        .locator('.servers td, .servers th[scope=row], .flow td, .clients td')
        .evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > innerWidth).length);
      same('fields out of sight', outside, 0);
      has('a field', await shown(page, '.servers tbody tr >> nth=2'), 'cp-3');
      same(
        'labels',
        await page
          .locator('.servers tbody tr >> nth=0 >> td')
          .evaluateAll((all) => all.map((each) => getComputedStyle(each, '::before').content)),
        ['"Version"', '"State"', '"Lease renewed"', '"APIs read"', '"In flight"', '"Certificate"', '"Addresses"'],
      );
      return undefined;
    },
  },
  {
    name: 'size: 5,000 rows and 50 servers scroll, with only those in sight drawn',
    state: largeState,
    async run({ page, open }) {
      await open();
      same('height of all rows', await page.locator('.skew').getAttribute('aria-rowcount'), '5001');
      const cpuMs = await cpuMsOfFrame(page, `document.querySelector('.skew-box').scrollTop += ${SCROLL_PIXELS}`);
      const drawn = await page.locator('.skew tbody tr[data-row]').count();
      if (drawn > DRAWN_ROWS_MAX) throw new Error(`${drawn} rows are drawn`);
      const first = Number(await page.locator('.skew tbody tr[data-row]').first().getAttribute('data-row'));
      if (first < 300) throw new Error(`the first row is ${first} after the scrolling`);
      if (cpuMs > CPU_MS_MAX) throw new Error(`${cpuMs.toFixed(1)} ms of CPU time a frame`);
      await page.getByLabel('Filter').fill('widgets4999');
      same('found', await page.locator('.skew tbody th').allInnerTexts(), ['widgets4999.v1.group39.example.com']);
      return `${drawn} rows drawn; ${cpuMs.toFixed(1)} ms of CPU time a frame`;
    },
  },
  {
    name: 'size: a flow of 200 requests a second does not hold frames back',
    state: largeState,
    async run({ page, server, open }) {
      await open();
      const { totals } = upgradeState().flow;
      let id = 10_000;
      const timer = setInterval(() => {
        const rows = Array.from({ length: 50 }, () => flowRow(id++));
        server.send('flow', {
          rows,
          seconds: flowSeconds(1),
          totals: { ...totals, requests: totals.requests + id },
          left: 0,
        });
      }, 250);
      try {
        const cpuMs = await cpuMsOfFrame(page, '');
        if (cpuMs > CPU_MS_MAX) throw new Error(`${cpuMs.toFixed(1)} ms of CPU time a frame`);
        await until(page, '#flow .lead', /1[34]\d,\d{3} requests/);
        same('rows', await page.locator('.flow tbody tr').count(), 100);
        return `${cpuMs.toFixed(1)} ms of CPU time a frame`;
      } finally {
        clearInterval(timer);
      }
    },
  },
  {
    name: 'print: rows that are out of sight are printed, controls are not',
    state: largeState,
    async run({ page, open }) {
      await open();
      await page.emulateMedia({ media: 'print' });
      await until(page, '#skew', '4,600 more rows are not printed');
      same('rows', await page.locator('.skew tbody tr[data-row]').count(), 400);
      same(
        'controls',
        await page
          .locator('.pause, nav.sections, .theme')
          .evaluateAll((all) => all.filter((each) => (each as HTMLElement).offsetParent !== null).length),
        0,
      );
      await page.emulateMedia({ media: 'screen' });
      await until(page, 'nav.sections', 'Servers');
      return undefined;
    },
  },
  {
    name: 'print: a sheet of an upgrade has the verdict and all tables',
    async run({ page, open }) {
      await open();
      const sheet = await page.pdf({ format: 'A4' });
      const pages = sheet.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      if (pages < 2 || pages > 8) throw new Error(`${pages} sheets`);
      return `${pages} sheets`;
    },
  },
];
