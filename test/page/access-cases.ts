import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { has, type PageCase, PHONE, same, shown, until } from './page-case.js';
import { flowRow, largeState, server, upgradeState } from './states.js';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"\'&';

/** Hostile text in each place that shows text of others. */
function hostileState() {
  const { skew, timeline, flow } = upgradeState();
  return upgradeState({
    server: HOSTILE,
    straddleVersion: HOSTILE,
    verdict: {
      may: 'no',
      sentence: HOSTILE,
      reasons: [{ id: HOSTILE, text: HOSTILE, remedy: HOSTILE, isCommand: true }],
    },
    servers: [
      server(HOSTILE, {
        version: HOSTILE,
        emulatedVersion: HOSTILE,
        detail: HOSTILE,
        endpoints: [{ kind: HOSTILE, address: `javascript:${HOSTILE}`, usable: true }],
      }),
    ],
    reach: [{ from: HOSTILE, to: HOSTILE, reaches: true }],
    skew: { ...skew, servers: [HOSTILE], rows: [{ name: HOSTILE, cells: ['served'], usedAtMs: null }] },
    flow: {
      ...flow,
      recent: [
        flowRow(1, {
          verb: HOSTILE,
          resource: HOSTILE,
          userAgent: HOSTILE,
          why: HOSTILE,
          arrivedAt: HOSTILE,
          answeredBy: HOSTILE,
        }),
      ],
    },
    timeline: {
      ...timeline,
      lanes: [
        { server: HOSTILE, spans: [{ fromMs: timeline.startedAtMs, toMs: null, state: 'ready', version: HOSTILE }] },
      ],
      events: [{ atMs: timeline.startedAtMs, server: HOSTILE, kind: 'left', text: HOSTILE }],
      longestGap: { server: HOSTILE, ms: 1 },
    },
    clients: { rows: [{ name: HOSTILE, version: HOSTILE, requests: 1, wouldHaveFailed: 1, lastAtMs: 0 }], left: 0 },
    checks: [{ id: HOSTILE, server: HOSTILE, verdict: 'fail', text: HOSTILE, remedy: HOSTILE, isCommand: false }],
  });
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as axe.AxeResults;
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

async function openAll(page: Page): Promise<void> {
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
}

const axeCase = (name: string, browser: PageCase['browser']): PageCase => ({
  name: `axe: no violation ${name}`,
  browser: browser!,
  async run({ page, server: pageServer, open }) {
    await open();
    await openAll(page);
    same('violations', await violations(page), []);
    await pageServer.close();
    await until(page, '.lost', 'Connection lost');
    same('violations without connection', await violations(page), []);
    return undefined;
  },
});

export const accessCases: readonly PageCase[] = [
  axeCase('in light colours', { colorScheme: 'light' }),
  axeCase('in dark colours', { colorScheme: 'dark' }),
  axeCase('at 390 px', { ...PHONE, colorScheme: 'light' }),
  {
    name: 'text: markup of servers and clients is text',
    state: hostileState,
    async run({ page, open }) {
      await open();
      await openAll(page);
      same('scripts that ran', await page.evaluate('typeof window.hacked'), 'undefined');
      same('pictures', await page.locator('main img, main script').count(), 0);
      for (const id of ['verdict', 'servers', 'skew', 'flow', 'timeline', 'clients', 'checks'])
        has(`#${id}`, await page.locator(`#${id}`).textContent(), HOSTILE);
      return undefined;
    },
  },
  {
    name: 'keyboard: everything is reached, in order, and the focus is seen',
    async run({ page, open }) {
      await open();
      const seen: string[] = [];
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press('Tab');
        const [label, outline] = (await page.evaluate(`(() => {
          const at = document.activeElement;
          const drawn = at.type === 'radio' ? at.closest('label') : at;
          return [at === document.body ? '' : (at.getAttribute('aria-label') ?? at.closest('section[id], nav, header')?.id ?? '') + ' ' + (at.textContent || at.name || at.type), getComputedStyle(drawn).outlineStyle];
        })()`)) as [string, string];
        if (label === '') break;
        if (outline === 'none') throw new Error(`the focus on ${label} is not seen`);
        seen.push(label.slice(0, 70));
      }
      has('the first', seen[0]!, 'Skip to the verdict');
      for (const wanted of [
        'theme',
        'Servers',
        'Copy: straddle gate',
        'Table of servers',
        'Who reaches whom',
        'search',
        'checkbox',
        'storagemigrations',
        'flow-choice',
        'Pause',
        'Last requests',
        'timeline-range',
        '10 events',
        'Table of clients',
        'Copy: straddle check',
        'are ok',
      ])
        if (!seen.some((label) => label.includes(wanted))) throw new Error(`no way to ${wanted}: ${seen.join(' / ')}`);
      return `${seen.length} stops`;
    },
  },
  {
    name: 'keyboard: the skip link leads to the verdict',
    async run({ page, open }) {
      await open();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      same('focus', await page.evaluate('document.activeElement.id'), 'verdict');
      return undefined;
    },
  },
  {
    name: 'keyboard: arrows move through 5,000 rows of the skew matrix',
    state: largeState,
    async run({ page, open }) {
      await open();
      const focused = () =>
        page.evaluate(
          "[document.activeElement.closest('tr')?.dataset.row, document.activeElement.dataset.column].join()",
        );
      await page.locator('.skew [tabindex="0"]').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowRight');
      same('one down, one right', await focused(), '1,1');
      await page.keyboard.press('Control+End');
      same('the last cell', await focused(), '4999,51');
      await page.keyboard.press('PageUp');
      await page.keyboard.press('Home');
      has('a page up', String(await focused()), /^49[6-9]\d,0$/);
      has('its words', await shown(page, '#skew .detail'), /^widgets49[6-9]\d\.v1\./);
      const inSight = await page.evaluate(`(() => {
        const cell = document.activeElement.getBoundingClientRect();
        const box = document.querySelector('.skew-box').getBoundingClientRect();
        const head = document.querySelector('.skew thead').getBoundingClientRect();
        return cell.top >= head.bottom - 1 && cell.bottom <= box.bottom + 1;
      })()`);
      same('in sight', inSight, true);
      await page.keyboard.press('Control+Home');
      same('the first cell', await focused(), '0,0');
      same('cells that the tab key stops at', await page.locator('.skew [tabindex="0"]').count(), 1);
      return undefined;
    },
  },
  {
    name: 'screen reader: landmarks, captions, and one live region',
    async run({ page, open }) {
      await open();
      same('main, banner, navigation', await page.locator('main, header, nav').count(), 3);
      const unnamed = await page.locator('section:not([aria-label]):not([aria-labelledby])').count();
      same('sections without a name', unnamed, 0);
      same('tables without a name', await page.locator('table:not([aria-label]):not(:has(caption))').count(), 0);
      same(
        'live regions',
        await page
          .locator('[aria-live], [role=alert]')
          .evaluateAll((all) => all.map((each) => each.closest('section')?.id)),
        ['verdict'],
      );
      return undefined;
    },
  },
  {
    name: 'colours: the choice is kept, and the system is followed without one',
    browser: { colorScheme: 'dark' },
    async run({ page, open }) {
      await open();
      const back = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
      const dark = await back();
      await page.locator('label:has-text("Light")').click();
      const light = await back();
      if (light === dark) throw new Error(`light and dark are both ${String(light)}`);
      await open();
      same('after a reload', await back(), light);
      await page.locator('label:has-text("Auto")').click();
      same('as the system', await back(), dark);
      return undefined;
    },
  },
  {
    name: 'motion: none where the reader wants none',
    browser: { reducedMotion: 'reduce' },
    async run({ page, open }) {
      await open();
      same('scrolling', await page.evaluate('getComputedStyle(document.documentElement).scrollBehavior'), 'auto');
      same('animations', await page.evaluate('document.getAnimations().length'), 0);
      return undefined;
    },
  },
];
