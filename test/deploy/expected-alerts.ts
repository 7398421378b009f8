import type { Expectation, FiringAlert } from './promtool-input.js';

const on =
  (alert: string) =>
  (instance: string, more: Readonly<Record<string, string>> = {}): FiringAlert => ({ alert, instance, ...more });

const down = on('StraddleDown');
const unreachable = (instance: string, peer: string) => on('StraddlePeerUnreachable')(instance, { peer });
const departed = on('StraddleServerDeparted');
const unavailable = (instance: string) => on('StraddleApiUnavailable')(instance, { how: 'held-back' });
const errors = on('StraddleErrors');
const unreadable = (instance: string, type: string) => on('StraddleDiscoveryUnreadable')(instance, { type });
const requestsFail = (instance: string, type: string) => on('StraddlePeerRequestsFail')(instance, { type });
const noPeer = on('StraddleKnowsNoPeer');

/** The only server of an API is away, as its peer `a` sees it. */
const ONLY_SERVER_AWAY = [unreachable('a', 'b'), departed('a'), unavailable('a'), errors('a')];
const CERTIFICATES = [
  on('StraddleServingCertificateExpires')('a'),
  on('StraddleFrontProxyCertificateExpires')('a', { common_name: 'front-proxy-client' }),
];
const GATE = { name: 'UnknownVersionInteroperabilityProxy', stage: 'BETA' };

const nothingAt = (...pages: number[]): Expectation[] => pages.map((page) => ({ page, firing: [] }));

/** What fires, and nothing else, at some pages of each recording. */
export const EXPECTED_ALERTS: Readonly<Record<string, readonly Expectation[]>> = {
  normal: nothingAt(8, 20, 39),
  'peer-killed': [
    ...nothingAt(8),
    { page: 13, firing: [down('c')] },
    { page: 20, firing: [down('c'), unreachable('a', 'c'), unreachable('b', 'c')] },
    { page: 29, firing: [down('c'), unreachable('a', 'c'), unreachable('b', 'c'), departed('a'), departed('b')] },
    ...nothingAt(39),
  ],
  'only-server-gone': [
    ...nothingAt(8),
    { page: 13, firing: [down('b')] },
    { page: 34, firing: [down('b'), ...ONLY_SERVER_AWAY] },
  ],
  'local-server-down': [
    ...nothingAt(8, 13),
    { page: 20, firing: [on('StraddleLocalServerDown')('a'), unreachable('b', 'a'), unreachable('c', 'a')] },
    {
      page: 39,
      firing: [
        ...[on('StraddleLocalServerDown')('a'), unreachable('b', 'a'), unreachable('c', 'a')],
        ...[departed('b'), departed('c')],
      ],
    },
  ],
  'straddle-stopped': [...nothingAt(8), { page: 20, firing: [down('c')] }, ...nothingAt(39)],
  passthrough: [
    ...nothingAt(8),
    { page: 13, firing: [on('StraddlePassthroughOn')('a')] },
    { page: 29, firing: [on('StraddlePassthroughOn')('a')] },
    ...nothingAt(39),
  ],
  'discovery-unreadable': [
    ...nothingAt(8),
    { page: 20, firing: [unreachable('a', 'b')] },
    { page: 34, firing: [...ONLY_SERVER_AWAY, unreadable('a', 'malformed'), unreadable('b', 'local')] },
  ],
  'peer-hangs': [
    ...nothingAt(8),
    { page: 13, firing: [down('b')] },
    { page: 34, firing: [down('b'), ...ONLY_SERVER_AWAY] },
  ],
  'gate-off': [{ page: 29, firing: [on('StraddleProtectionOff')('a', GATE), noPeer('a'), noPeer('b')] }],
  'lease-conflict': [
    ...nothingAt(20),
    { page: 29, firing: [on('StraddleAddressConflict')('a'), on('StraddleAddressConflict')('b')] },
  ],
  'too-many-servers': [
    ...nothingAt(8, 20),
    { page: 29, firing: [on('StraddleServersLeftOut')('a'), on('StraddleServersLeftOut')('b')] },
  ],
  'peer-resets': [
    ...nothingAt(8),
    { page: 39, firing: [down('b'), requestsFail('a', 'hang'), requestsFail('a', 'reset'), errors('a')] },
  ],
  'limit-reached': [{ page: 39, firing: [on('StraddleLimitReached')('a', { limit: 'max-requests-in-flight' })] }],
  workers: [...nothingAt(8), { page: 13, firing: [on('StraddleWorkersEnd')('a')] }, ...nothingAt(39)],
  restarts: [...nothingAt(8, 20), { page: 39, firing: [on('StraddleRestarts')('a')] }],
  slow: [...nothingAt(8), { page: 39, firing: [on('StraddleSlow')('c')] }],
  'few-files': [...nothingAt(8), { page: 39, firing: [on('StraddleFilesNearLimit')('a')] }],
  'certificates-expire': [
    { page: 8, firing: CERTIFICATES },
    { page: 39, firing: CERTIFICATES },
  ],
};
