import { expect, it } from 'vitest';
import { withoutNotTaken } from './not-taken.js';

it.each(['X-Straddle-Not-Taken', 'x-straddle-not-taken'])(
  'withoutNotTaken removes %s from a 503 of the server',
  (name) => {
    const reply = { status: 503, headers: ['Retry-After', '1', name, 'unknown'], body: null };
    expect(withoutNotTaken(reply)).toEqual({ status: 503, headers: ['Retry-After', '1'], body: null });
  },
);

it('withoutNotTaken returns other replies unchanged', () => {
  const reply = { status: 503, headers: ['Retry-After', '1'], body: null };
  expect(withoutNotTaken(reply)).toBe(reply);
});
