import { expect, it } from 'vitest';
import { Exchange } from '../../http/exchange.js';
import { requestInfoFilter } from './request-info-filter.js';

const handled = (target: string) => {
  const connection = { remoteAddress: '', certificateChain: [] };
  const exchange = new Exchange({ method: 'GET', target, headers: [], body: null, connection }, 0);
  return async () => {
    await requestInfoFilter.wrap(async () => ({ status: 200, headers: [], body: null }))(exchange);
    return exchange.info;
  };
};

it('request-info filter: parses verb and resource of a request', async () => {
  expect(await handled('/api/v1/pods?limit=1')()).toMatchObject({ resource: 'pods', verb: 'list' });
  expect(await handled('/api/v1/namespaces/a%2Fb')()).toMatchObject({ isResource: true });
});

it.each(['http://other/api', '*', '', 'api', '/a b', '/a\tb', '/a\0', '/a\u0100', '/a%', '/%zz', '/x\x7f'])(
  'request-info filter: throws 400 for the target %j',
  async (target) => {
    await expect(handled(target)).rejects.toMatchObject({ status: { code: 400 } });
  },
);
