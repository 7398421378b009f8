import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema/schema.js';
import { keepUnknownFields } from './unknown-kept.js';

const item: Schema = { type: 'object', properties: { name: { type: 'string' }, image: { type: 'string' } } };
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        known: { type: 'string' },
        byName: { type: 'array', listType: 'map', listKeys: ['name'], items: item },
        byPlace: { type: 'array', items: item },
        free: { type: 'object' },
      },
    },
  },
};

describe('keepUnknownFields', () => {
  it('keeps unknown fields of the stored object at any depth', () => {
    const stored = { spec: { known: 'a', newer: { x: 1 } }, alsoNewer: true };
    expect(keepUnknownFields({ spec: { known: 'b' } }, stored, schema)).toEqual({
      spec: { known: 'b', newer: { x: 1 } },
      alsoNewer: true,
    });
  });

  it('does not restore known fields that were removed', () => {
    expect(keepUnknownFields({ spec: {} }, { spec: { known: 'a' } }, schema)).toEqual({ spec: {} });
    expect(keepUnknownFields({}, { spec: { newer: 1 } }, schema)).toEqual({});
    expect(keepUnknownFields({ spec: { free: {} } }, { spec: { free: { any: 1 } } }, schema)).toEqual({
      spec: { free: {} },
    });
  });

  it('matches list items by their keys, or by position without keys', () => {
    const stored = {
      spec: {
        byName: [
          { name: 'a', newer: 1 },
          { name: 'b', newer: 2 },
        ],
        byPlace: [{ image: 'x', newer: 3 }],
      },
    };
    const object = { spec: { byName: [{ name: 'b', image: 'i' }], byPlace: [{ image: 'y' }, { image: 'z' }] } };
    expect(keepUnknownFields(object, stored, schema)).toEqual({
      spec: { byName: [{ name: 'b', image: 'i', newer: 2 }], byPlace: [{ image: 'y', newer: 3 }, { image: 'z' }] },
    });
  });
});
