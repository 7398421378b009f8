import { expect, it } from 'vitest';
import { type OpenExchange, OpenExchanges } from './open-exchanges.js';

it('OpenExchanges.endStalled checks every exchange although ending one ends its neighbours', () => {
  const open = new OpenExchanges();
  const looked: string[] = [];
  const exchange = (name: string, alsoEnds: OpenExchange[]): OpenExchange => {
    let isDone = false;
    const end = (each: OpenExchange): void => {
      each.cut();
      open.remove(each);
    };
    const self: OpenExchange = {
      get isDone() {
        return isDone;
      },
      list: undefined,
      before: undefined,
      after: undefined,
      endWhenClean: () => {},
      cut: () => {
        isDone = true;
      },
      endIfStalled: () => {
        looked.push(name);
        for (const each of [self, ...alsoEnds]) end(each);
        return true;
      },
    };
    return self;
  };
  const other = exchange('of another connection', []);
  const neighbour = exchange('of the same connection', []);
  const first = exchange('first', [neighbour]);
  for (const each of [first, neighbour, other]) open.add(each);
  expect(open.endStalled(0, 0)).toBe(2);
  expect(looked).toEqual(['first', 'of another connection']);
});
