import { has, type PageCase, same, shown, until } from './page-case.js';
import { WITHOUT_SCRIPT } from './page-server.js';
import { AT_MS, flowRow, flowSeconds, SERVERS, server, upgradeState } from './states.js';

export const viewCases: readonly PageCase[] = [
  {
    name: 'verdict: replaces what the server wrote for browsers without scripts',
    async run({ page, open }) {
      await open();
      const all = await page.locator('body').innerText();
      if (all.includes(WITHOUT_SCRIPT)) throw new Error('both are shown');
      same('verdicts', await page.locator('#verdict').count(), 1);
      return undefined;
    },
  },
  {
    name: 'verdict: what the server wrote is shown without scripts',
    browser: { javaScriptEnabled: false },
    async run({ page, server: pageServer }) {
      await page.goto(pageServer.url);
      has('the page', await shown(page, '#verdict'), WITHOUT_SCRIPT);
      return undefined;
    },
  },
  {
    name: 'verdict: one sentence, reasons and remedies',
    async run({ page, open }) {
      await open();
      has(
        'the verdict',
        await shown(page, '#verdict'),
        'Do not replace a server now 1 of 3 servers on 1.37, all protected',
      );
      same('reasons', await page.locator('.reasons > li').count(), 2);
      has(
        'a reason',
        await shown(page, '.reasons > li >> nth=0'),
        /Only cp-3 serves .* single-server-api straddle gate --for cp-1 .* Copy/,
      );
      has('a sentence', await shown(page, '.reasons > li >> nth=1'), 'Renew it before the upgrade goes on.');
      same('buttons beside a sentence', await page.locator('.reasons > li >> nth=1 >> button').count(), 0);
      return undefined;
    },
  },
  {
    name: 'verdict: a command is copied',
    browser: { permissions: ['clipboard-read', 'clipboard-write'] },
    async run({ page, open }) {
      await open();
      await page.locator('.reasons button').first().click();
      await until(page, '.reasons button', 'Copied');
      const copied = await page.evaluate('navigator.clipboard.readText()');
      same('copied', copied, 'straddle gate --for cp-1 --accept storagemigrations.v1.storagemigration.k8s.io');
      return undefined;
    },
  },
  {
    name: 'verdict: a command is selected where there is no clipboard',
    async before({ page }) {
      await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    },
    async run({ page, open }) {
      await open();
      await page.locator('.reasons button').first().click();
      await until(page, '.reasons button', 'Selected');
      has('selected', String(await page.evaluate('String(getSelection())')), /^straddle gate --for cp-1 /);
      return undefined;
    },
  },
  {
    name: 'verdict: yes and unknown have other words and shapes than no',
    async run({ page, server: pageServer, open }) {
      await open();
      const marks: string[] = [];
      for (const [may, words] of [
        ['no', 'Do not replace'],
        ['yes', 'may be replaced'],
        ['unknown', 'Not known'],
      ] as const) {
        pageServer.change({ verdict: { may, sentence: `it is ${may}`, reasons: [] } });
        await until(page, '#verdict', `it is ${may}`);
        has('the headline', await shown(page, '#verdict h2'), words);
        marks.push(await page.locator('#verdict > svg').innerHTML());
      }
      same('different shapes', new Set(marks).size, 3);
      return undefined;
    },
  },
  {
    name: 'servers: version, state, ages, load, certificate, addresses',
    state: () =>
      upgradeState({
        servers: [
          server('cp-1', { emulatedVersion: 'v1.36', passthrough: true }),
          server('cp-2', {
            state: 'down',
            detail: 'connection refused for 12 s',
            endpoints: [{ kind: 'API server', address: '10.0.2.1:6443', usable: false }],
            certificateExpiresAtMs: AT_MS - 90_000_000,
          }),
          server('cp-3', {
            state: 'unread',
            version: null,
            leaseRenewedAtMs: null,
            surfaceAtMs: null,
            certificateExpiresAtMs: null,
            endpoints: [],
          }),
        ],
      }),
    async run({ page, open }) {
      await open();
      has(
        'cp-1',
        await shown(page, '.servers tbody tr >> nth=0'),
        /^cp-1 this one passthrough v1\.36\.4 emulates v1\.36 ready \d+ s ago (now|\d+ s ago) 17 in 31\d d .*2 of 2 usable$/,
      );
      has(
        'cp-2',
        await shown(page, '.servers tbody tr >> nth=1'),
        /^cp-2 v1\.36\.4 down connection refused for 12 s .* expired 25 h ago .*0 of 1 usable$/,
      );
      has(
        'cp-3',
        await shown(page, '.servers tbody tr >> nth=2'),
        /^cp-3 not read unread never never 51 not known none$/,
      );
      await page.locator('.servers summary').first().click();
      has(
        'addresses',
        await shown(page, '.servers .addresses >> nth=0'),
        /10\.0\.1\.1:6443 API server 10\.0\.1\.1:8443 Straddle/,
      );
      has('the navigation', await shown(page, 'nav.sections'), /Servers ?2/);
      return undefined;
    },
  },
  {
    name: 'servers: who reaches whom',
    state: () =>
      upgradeState({
        reach: [
          { from: 'cp-1', to: 'cp-2', reaches: true },
          { from: 'cp-2', to: 'cp-1', reaches: false },
          { from: 'cp-3', to: 'cp-1', reaches: null },
        ],
      }),
    async run({ page, open }) {
      await open();
      has('the caption', await shown(page, '.reach caption'), '1 way broken');
      const cell = (from: number, to: number) => page.locator(`.reach tbody tr:nth-child(${from}) td >> nth=${to - 1}`);
      same('cp-1 to cp-2', await cell(1, 2).innerText(), '✓');
      same('cp-2 to cp-1', await cell(2, 1).innerText(), '✗');
      same('cp-3 to cp-1', await cell(3, 1).innerText(), '?');
      same('its words', await cell(2, 1).getAttribute('title'), 'cp-2 does not reach cp-1');
      return undefined;
    },
  },
  {
    name: 'skew: each state has a letter and a title',
    state: () =>
      upgradeState({
        skew: {
          servers: ['a', 'b', 'c', 'd', 'e'],
          rows: [{ name: 'pods.v1/resize', cells: ['served', 'rerouted', 'held', 'stale', 'absent'], usedAtMs: null }],
          alike: 9,
          left: 4,
        },
      }),
    async run({ page, open }) {
      await open();
      const cells = page.locator('.skew tbody td.cell');
      same('letters', await cells.allInnerTexts(), ['✓', 'R', 'H', 'S', '–']);
      const labels = await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute('aria-label')));
      same('words', labels, ['served', 'rerouted', 'held with 503', 'stale', 'absent']);
      await cells.nth(2).hover();
      same('title', await cells.nth(2).getAttribute('title'), 'c: held with 503');
      has('the lead', await shown(page, '#skew .lead'), '5 resources differ, 9 alike everywhere');
      has('what did not fit', await shown(page, '#skew .left'), '4 more rows do not fit');
      return undefined;
    },
  },
  {
    name: 'skew: filters by text, by state, and by use in the last hour of the server',
    async run({ page, open }) {
      await open();
      const names = () => page.locator('.skew tbody th').allInnerTexts();
      await page.getByLabel('Used in the last hour').check();
      same('used', await names(), [
        'storagemigrations.v1.storagemigration.k8s.io',
        'podcertificaterequests.v1.certificates.k8s.io',
      ]);
      await page.getByLabel('Has a cell').selectOption('held');
      same('held', await names(), ['storagemigrations.v1.storagemigration.k8s.io']);
      await page.getByLabel('Filter').fill('no such thing');
      await page.getByRole('button', { name: 'Show everything' }).click();
      same('all', (await names()).length, 4);
      await page.getByLabel('Filter').fill('STATUS csi');
      same('text', await names(), ['csinodes.v1.storage.k8s.io/status']);
      has('the count', await shown(page, '#skew .shown'), '1 of 4 shown');
      return undefined;
    },
  },
  {
    name: 'skew: no difference is said in words',
    state: () => upgradeState({ skew: { servers: SERVERS, rows: [], alike: 216, left: 0 } }),
    async run({ page, open }) {
      await open();
      has('the view', await shown(page, '#skew'), 'No difference: every server serves the same resources.');
      return undefined;
    },
  },
  {
    name: 'flow: rows of the stream come first, with way, rule and milliseconds',
    async run({ page, server: pageServer, open }) {
      await open();
      const row = flowRow(900, {
        kind: 'rerouted',
        arrivedAt: 'cp-2',
        answeredBy: 'cp-3',
        verb: 'deletecollection',
        why: 'only peers serve it',
        status: 200,
        ms: 12.34,
      });
      pageServer.send('flow', {
        rows: [row],
        seconds: [],
        totals: { requests: 5, rerouted: 4, prevented404: 3, held503: 2, failovers: 1 },
        left: 2,
      });
      await until(page, '.flow tbody tr >> nth=0', 'deletecollection');
      has(
        'the row',
        await shown(page, '.flow tbody tr >> nth=0'),
        /deletecollection .* cp-2 .* cp-3 ?rerouted only peers serve it 200 12 /,
      );
      has('totals', await shown(page, '.totals'), 'Rerouted 4 Prevented 404 3 Held with 503 2 Failovers 1');
      has('what was not recorded', await shown(page, '#flow .left'), '2 requests were counted');
      await page.locator('#flow .choices label:has-text("Held")').click();
      same('held only', await page.locator('.flow tbody tr:not(.kind-held)').count(), 0);
      return undefined;
    },
  },
  {
    name: 'flow: pause keeps the rows and counts the newer requests',
    async run({ page, server: pageServer, open }) {
      await open();
      const { totals } = upgradeState().flow;
      await page.getByRole('button', { name: 'Pause' }).click();
      const before = await shown(page, '.flow tbody tr >> nth=0');
      pageServer.send('flow', {
        rows: [flowRow(901)],
        seconds: [],
        totals: { ...totals, requests: totals.requests + 7 },
        left: 0,
      });
      await until(page, '#flow .shown', '7 newer requests');
      same('the first row', await shown(page, '.flow tbody tr >> nth=0'), before);
      await page.getByRole('button', { name: 'Continue' }).click();
      same('rows', await page.locator('.flow tbody tr').count(), 41);
      return undefined;
    },
  },
  {
    name: 'flow: the chart draws the rates of the stream',
    async run({ page, server: pageServer, open }) {
      await open();
      const coloured = () =>
        page.locator('.chart canvas').evaluate((canvas) => {
          const { width, height } = canvas as HTMLCanvasElement;
          const { data } = (canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
          let count = 0;
          for (let at = 0; at < data.length; at += 4) if (Math.abs(data[at]! - data[at + 2]!) > 60) count += 1;
          return count;
        });
      const before = await coloured();
      if (before < 100) throw new Error(`the chart has ${before} coloured points`);
      has(
        'its words',
        await page.locator('.chart').getAttribute('aria-label'),
        /^Chart of the last 5 minutes.*Failovers 5\.$/,
      );
      const seconds = flowSeconds(200).map((each) => ({
        ...each,
        rerouted: 0,
        prevented404: 0,
        held503: 0,
        failovers: 0,
        atMs: each.atMs,
      }));
      pageServer.replace(upgradeState({ flow: { ...upgradeState().flow, seconds } }));
      pageServer.send('state', upgradeState({ flow: { ...upgradeState().flow, seconds } }));
      await until(page, '.connection', 'live');
      await page.waitForFunction(`document.querySelector('.chart').getAttribute('aria-label').includes('Rerouted 0,')`);
      return `${before} coloured points`;
    },
  },
  {
    name: 'timeline: lanes, events, prevented 404s, longest gap',
    async run({ page, open }) {
      await open();
      has('the lead', await shown(page, '#timeline .lead'), 'longest gap: cp-3, 2 min 30 s');
      same(
        'lanes',
        await page
          .locator('.lane-drawing .lane-name')
          .evaluateAll((all) => all.map((each) => each.firstChild?.textContent)),
        SERVERS,
      );
      const titles = await page.locator('.lane-drawing .bar title').allTextContents();
      has('a gap', titles.join('\n'), /cp-3: gone, remembered from .*\(2 min 30 s\)/);
      same(
        'prevented 404s, joined where they are near',
        await page.locator('.lane-drawing .mark.prevented-404').count(),
        2,
      );
      await page.locator('.events summary').click();
      same('events', await page.locator('.events li').count(), 10);
      has('the newest event', await shown(page, '.events li >> nth=0'), 'Prevented 404 cp-2: 9 requests');
      await page.locator('#timeline label:has-text("15 min")').click();
      same('gaps in the last 15 minutes', await page.locator('.lane-drawing .bar.gone').count(), 0);
      return undefined;
    },
  },
  {
    name: 'clients: those whose requests would have failed come first',
    async run({ page, open }) {
      await open();
      has('the lead', await shown(page, '#clients .lead'), '1,874 requests would have failed without Straddle');
      const names = await page.locator('.clients tbody th').allInnerTexts();
      same('order', names, ['kube-controller-manager', 'kubectl', 'argocd-application-controller', 'kubelet', 'curl']);
      has('the first', await shown(page, '.clients tbody tr >> nth=0'), 'kube-controller-manager v1.36.4 90,112 1,822');
      has('what did not fit', await shown(page, '#clients .left'), '3 requests of clients that are not listed');
      return undefined;
    },
  },
  {
    name: 'checks: the worst first, with the remedy to copy',
    async run({ page, open }) {
      await open();
      const marks = await page
        .locator('#checks > .checks > li > svg')
        .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
      same('verdicts', marks, ['fail', 'warn', 'unknown']);
      has(
        'the first',
        await shown(page, '#checks > .checks > li >> nth=0'),
        /certificate signed by unknown authority\. aggregator-ca ?cp-3 straddle check .* Copy$/,
      );
      await page.locator('.good-checks summary').click();
      same('good ones', await page.locator('.good-checks li').count(), 2);
      return undefined;
    },
  },
];
