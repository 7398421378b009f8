import { has, type PageCase, same, shown, until } from './page-case.js';
import { AT_MS, server, upgradeState } from './states.js';

/** Cases in which something happens while the page is open. */
export const changeCases: readonly PageCase[] = [
  {
    name: 'change: a server dies and comes back with the next version',
    async run({ page, server: pageServer, open }) {
      await open();
      const { timeline, verdict } = upgradeState();
      const others = [server('cp-1'), server('cp-3', { version: 'v1.37.1' })] as const;
      const lanes = (state: 'down' | 'ready', version: string) =>
        timeline.lanes.map((lane) =>
          lane.server === 'cp-2'
            ? { server: 'cp-2', spans: [...lane.spans, { fromMs: AT_MS, toMs: null, state, version }] }
            : lane,
        );
      pageServer.change({
        servers: [
          others[0],
          server('cp-2', { state: 'down', detail: 'connection refused for 3 s', inFlight: 0 }),
          others[1],
        ],
        timeline: { ...timeline, lanes: lanes('down', 'v1.36.4') },
        verdict: { ...verdict, sentence: 'cp-2 is down' },
      });
      await until(page, '.servers tbody tr >> nth=1', 'connection refused for 3 s');
      has('the lead', await shown(page, '#servers .lead'), '2 of 3 servers ready');
      has('the verdict', await shown(page, '#verdict'), 'cp-2 is down');
      pageServer.change({
        servers: [others[0], server('cp-2', { version: 'v1.37.1' }), others[1]],
        timeline: {
          ...timeline,
          lanes: lanes('ready', 'v1.37.1'),
          events: [...timeline.events, { atMs: AT_MS, server: 'cp-2', kind: 'version', text: '1.36.4 → 1.37.1' }],
        },
        verdict: { may: 'yes', sentence: '2 of 3 servers on 1.37, all protected', reasons: [] },
      });
      await until(page, '.servers tbody tr >> nth=1', 'v1.37.1');
      has('the lead', await shown(page, '#servers .lead'), '3 of 3 servers ready');
      has('the verdict', await shown(page, '#verdict'), 'The next server may be replaced');
      same('reasons', await page.locator('.reasons').count(), 0);
      same('events', await shown(page, '.events summary'), '11 events');
      return undefined;
    },
  },
  {
    name: 'connection: the Straddle dies; the page says so, takes the verdict back, and returns by itself',
    async run({ page, server: pageServer, open }) {
      await open();
      pageServer.change({ verdict: { may: 'yes', sentence: 'all is well', reasons: [] } });
      await until(page, '#verdict', 'The next server may be replaced');
      await pageServer.close();
      await until(page, '.lost', /Connection lost, data from \d+ s ago/);
      await until(page, '#verdict', 'Not known: the connection is lost');
      has('what it was', await shown(page, '#verdict'), 'Before that: all is well');
      await until(page, '.connection', /data from [2-9] s ago/);
      await pageServer.listen();
      await until(page, '.connection', 'live');
      await until(page, '#verdict', 'The next server may be replaced');
      same('words of the loss', await page.locator('.lost').count(), 0);
      return undefined;
    },
  },
  {
    name: 'connection: a button tries again at once',
    async run({ page, server: pageServer, open }) {
      await open();
      await pageServer.close();
      await until(page, '.lost', 'Connection lost');
      await pageServer.listen();
      await page.getByRole('button', { name: 'Try now' }).click();
      await until(page, '.connection', 'live');
      return undefined;
    },
  },
  {
    name: 'connection: without a stream the state is polled',
    before({ server: pageServer }) {
      pageServer.hasStream = false;
    },
    async run({ page, server: pageServer, open }) {
      await open();
      await until(page, '.connection', 'no stream, read each 5 s');
      pageServer.replace(upgradeState({ verdict: { may: 'yes', sentence: 'polled', reasons: [] } }));
      await until(page, '#verdict', 'polled');
      pageServer.hasStream = true;
      await until(page, '.connection', 'live');
      return undefined;
    },
  },
  {
    name: 'connection: a refusal names the command that opens the page',
    before({ server: pageServer }) {
      pageServer.status = 403;
    },
    async run({ page, server: pageServer }) {
      await page.goto(pageServer.url);
      await until(page, '.lost', '403: you may not read this page; open it again with straddle dashboard');
      return undefined;
    },
  },
  {
    name: 'connection: times are those of the clock of the server',
    browser: { timezoneId: 'Asia/Kolkata' },
    async run({ page, open }) {
      await page.clock.install({ time: AT_MS + 5 * 3_600_000 });
      await page.clock.resume();
      await open();
      has('the lease', await shown(page, '.servers tbody tr >> nth=0 >> td >> nth=2'), /^[4-9] s ago$/);
      has('a request', await shown(page, '.flow tbody tr >> nth=0 >> time'), /^12:39:4\d$/);
      return undefined;
    },
  },
];
